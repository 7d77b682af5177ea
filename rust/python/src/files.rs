//! Counts files of any size, block by block, on several threads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use pyo3::prelude::*;
use turnfit_core::scan;
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

type Counts = io::Result<ScriptCounts>;

/// Counts files; `told` is called now and then with the bytes counted since.
pub(crate) fn count(
    py: Python<'_>,
    paths: &[PathBuf],
    threads: usize,
    told: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Counts>> {
    let parts = parts_of(paths);
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(empty(paths.len())));
    let (tell, news) = channel();
    let news = Mutex::new(news);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, parts.len().max(1)) {
            let (tell, parts, next, totals) = (tell.clone(), &parts, &next, &totals);
            scope.spawn(move || work(paths, parts, next, totals, &tell));
        }
        drop(tell);
        let listened = listen(py, &news, told);
        // What is left need not be counted for a caller that has given up.
        if listened.is_err() {
            next.store(parts.len(), Ordering::Relaxed);
        }
        listened
    })?;
    Ok(totals.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn empty(files: usize) -> Vec<Counts> {
    (0..files).map(|_| Ok(ScriptCounts::default())).collect()
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

fn work(
    paths: &[PathBuf],
    parts: &[Part],
    next: &AtomicUsize,
    totals: &Mutex<Vec<Counts>>,
    tell: &Sender<u64>,
) {
    let mut buffer = Vec::new();
    while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
        let counted = count_part(&paths[part.file], part, &mut buffer, tell);
        let mut totals = totals.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        add(&mut totals[part.file], counted);
    }
}

/// The first error of a file stays.
fn add(total: &mut Counts, counted: Counts) {
    match (total.as_mut(), counted) {
        (Ok(total), Ok(counted)) => *total += counted,
        (Ok(_), Err(error)) => *total = Err(error),
        (Err(_), _) => {}
    }
}

fn count_part(path: &Path, part: &Part, buffer: &mut Vec<u8>, tell: &Sender<u64>) -> Counts {
    let mut file = File::open(path)?;
    match part.length {
        Some(length) => count_block(&mut file, part.start, length, buffer, tell),
        None => count_stream(&mut file, buffer, tell),
    }
}

/// The code points that begin in a block of a file.
fn count_block(file: &mut File, start: u64, length: u64, buffer: &mut Vec<u8>, tell: &Sender<u64>) -> Counts {
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

/// What has no size is read to its end.
fn count_stream(file: &mut File, buffer: &mut Vec<u8>, tell: &Sender<u64>) -> Counts {
    let mut counts = ScriptCounts::default();
    buffer.clear();
    loop {
        let read = file.take(BLOCK).read_to_end(buffer)?;
        if read == 0 {
            return Ok(counts + scan::utf8(buffer));
        }
        let cut = scan::cut_before(buffer, buffer.len());
        counts += scan::utf8(&buffer[..cut]);
        buffer.drain(..cut);
        let _ = tell.send(read as u64);
    }
}

/// Hands on what the threads tell, until all are done.
fn listen(py: Python<'_>, news: &Mutex<Receiver<u64>>, told: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    loop {
        let heard = py.detach(|| {
            let news = news.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
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
