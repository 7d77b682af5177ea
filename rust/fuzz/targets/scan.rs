//! Every level counts what the scalar one counts, of whatever bytes in whichever storage.

#![no_main]

use libfuzzer_sys::fuzz_target;
use turnfit_core::scan::{self, Level};

fuzz_target!(|bytes: &[u8]| {
    let narrow: Vec<u16> = bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
    let wide: Vec<u32> = narrow.iter().map(|&unit| u32::from(unit) * 33).collect();
    for level in scan::levels() {
        assert_eq!(level.utf8(bytes), Level::Scalar.utf8(bytes), "{level:?}");
        assert_eq!(level.latin1(bytes), Level::Scalar.latin1(bytes), "{level:?}");
        assert_eq!(level.ucs2(&narrow), Level::Scalar.ucs2(&narrow), "{level:?}");
        assert_eq!(level.ucs4(&wide), Level::Scalar.ucs4(&wide), "{level:?}");
        assert_eq!(level.container_latin1(bytes), Level::Scalar.container_latin1(bytes), "{level:?}");
        assert_eq!(level.container_ucs2(&narrow), Level::Scalar.container_ucs2(&narrow), "{level:?}");
    }
});
