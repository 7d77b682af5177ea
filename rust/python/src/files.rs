//! Counts files of any size, block by block, on several threads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use turnfit_core::scan;
use turnfit_core::scan::weigh::{Weigher, Weights};
use turnfit_core::script::ScriptCounts;

/// Bytes read at a time, and counted by one thread.
const BLOCK: u64 = 4 << 20;

/// A block may begin inside a sequence that belongs to the one before it.
const OVERLAP: u64 = 3;

/// How often the caller is told, and asked whether to go on.
const TELL: Duration = Duration::from_millis(50);

/// A part of a file; without a length, all that can be read of it.
struct Part {
    file: usize,
    start: u64,
    length: Option<u64>,
}

/// What is in a file: its characters by class, and what they weigh if weights were given.
#[derive(Clone, Copy, Default)]
pub(crate) struct Total {
    pub(crate) counts: ScriptCounts,
    pub(crate) weight: Option<u64>,
}

type Counts = io::Result<Total>;

/// What the threads share.
struct Work {
    paths: Vec<PathBuf>,
    weights: Option<Arc<Weights>>,
    parts: Vec<Part>,
    next: AtomicUsize,
    totals: Mutex<Vec<Counts>>,
}

/// Counts files; `told` is called now and then with the bytes counted since.
///
/// The threads are not waited for when the caller gives up: one may hang in a pipe
/// into which nobody writes.
pub(crate) fn count(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    weights: Option<Arc<Weights>>,
    threads: usize,
    told: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Counts>> {
    let parts = if weights.is_some() { wholes_of(&paths) } else { parts_of(&paths) };
    let totals = Mutex::new(empty(paths.len()));
    let work = Arc::new(Work { paths, weights, parts, next: AtomicUsize::new(0), totals });
    let (tell, news) = channel();
    for _ in 0..threads.clamp(1, work.parts.len().max(1)) {
        let (work, tell) = (work.clone(), tell.clone());
        std::thread::spawn(move || work.run(&tell));
    }
    drop(tell);
    let listened = listen(py, &Mutex::new(news), told);
    if listened.is_err() {
        work.next.store(work.parts.len(), Ordering::Relaxed);
    }
    listened.map(|()| std::mem::take(&mut *locked(&work.totals)))
}

/// A thread that panicked leaves nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn empty(files: usize) -> Vec<Counts> {
    (0..files).map(|_| Ok(Total::default())).collect()
}

/// A weigher needs to know what was before: it reads a file from its start to its end.
fn wholes_of(paths: &[PathBuf]) -> Vec<Part> {
    (0..paths.len()).map(|file| Part { file, start: 0, length: None }).collect()
}

fn parts_of(paths: &[PathBuf]) -> Vec<Part> {
    let parts = paths.iter().enumerate().flat_map(|(file, path)| {
        let size = path.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| found.len());
        let blocks = size.map_or(1, |size| size.div_ceil(BLOCK).max(1));
        let length = size.filter(|&size| size > 0).map(|_| BLOCK);
        (0..blocks).map(move |block| Part { file, start: block * BLOCK, length })
    });
    parts.collect()
}

impl Work {
    fn run(&self, tell: &Sender<u64>) {
        let mut buffer = Vec::new();
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let counted = self.count_part(part, &mut buffer, tell);
            if let Some(total) = locked(&self.totals).get_mut(part.file) {
                add(total, counted);
            }
        }
    }

    fn count_part(&self, part: &Part, buffer: &mut Vec<u8>, tell: &Sender<u64>) -> Counts {
        let mut file = File::open(&self.paths[part.file])?;
        let Some(length) = part.length else {
            return count_stream(&mut file, self.weights.as_deref(), buffer, tell);
        };
        let counts = count_block(&mut file, part.start, length, buffer, tell)?;
        Ok(Total { counts, weight: None })
    }
}

/// The first error of a file stays.
fn add(total: &mut Counts, counted: Counts) {
    match (total.as_mut(), counted) {
        (Ok(total), Ok(counted)) => {
            total.counts += counted.counts;
            total.weight = counted.weight;
        }
        (Ok(_), Err(error)) => *total = Err(error),
        (Err(_), _) => {}
    }
}

/// The code points that begin in a block of a file.
fn count_block(
    file: &mut File,
    start: u64,
    length: u64,
    buffer: &mut Vec<u8>,
    tell: &Sender<u64>,
) -> io::Result<ScriptCounts> {
    let from = start.saturating_sub(OVERLAP);
    file.seek(SeekFrom::Start(from))?;
    buffer.clear();
    file.take(start - from + length).read_to_end(buffer)?;
    let first = scan::cut_before(buffer, (start - from) as usize);
    let is_last = (buffer.len() as u64) < start - from + length;
    let last = if is_last { buffer.len() } else { scan::cut_before(buffer, buffer.len()) };
    // Nobody listens any more once the caller has given up.
    let _ = tell.send(buffer.len() as u64 - (start - from));
    Ok(scan::utf8(&buffer[first..last.max(first)]))
}

/// What has no size, and what is weighed, is read to its end.
fn count_stream(
    file: &mut File,
    weights: Option<&Weights>,
    buffer: &mut Vec<u8>,
    tell: &Sender<u64>,
) -> Counts {
    let mut counts = ScriptCounts::default();
    let mut weigher = weights.map(Weigher::new);
    buffer.clear();
    loop {
        let read = file.take(BLOCK).read_to_end(buffer)?;
        let cut = if read == 0 { buffer.len() } else { scan::cut_before(buffer, buffer.len()) };
        counts += scan::utf8(&buffer[..cut]);
        if let Some(weigher) = &mut weigher {
            weigher.utf8(&buffer[..cut]);
        }
        if read == 0 {
            return Ok(Total { counts, weight: weigher.map(|mut weigher| weigher.weight()) });
        }
        buffer.drain(..cut);
        let _ = tell.send(read as u64);
    }
}

/// Hands on what the threads tell, until all are done.
fn listen(py: Python<'_>, news: &Mutex<Receiver<u64>>, told: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    loop {
        let heard = py.detach(|| {
            let news = locked(news);
            news.recv_timeout(TELL).map(|first| first + news.try_iter().sum::<u64>())
        });
        py.check_signals()?;
        match (heard, told) {
            (Err(RecvTimeoutError::Disconnected), _) => return Ok(()),
            (Ok(bytes), Some(told)) => drop(told.call1((bytes,))?),
            _ => {}
        }
    }
}
