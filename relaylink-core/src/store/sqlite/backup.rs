//! A copy of the file, made while it is served.

use std::{
    fs::{self, File, OpenOptions},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Options, Sqlite,
    connection::{Role, error, open},
    locate,
    unfit::unfit,
    whole::present,
};
use crate::store::{
    StoreError,
    upkeep::{Source, era, fresh},
};

impl Sqlite {
    /// Writes a copy of the store in `path`, as it is when this begins, to the new file `to`, and gives its
    /// size in bytes. Whoever has the store open goes on.
    ///
    /// The copy is readable by its owner alone, and leaves out the space of rows that were deleted. It is
    /// written under another name beside `to`, checked and synced, and named last: a file `to` is whole or not
    /// there. One that is there is left alone. Cursors of the order of commits that the store has handed out
    /// are refused by the copy. Blocks for as long as it takes.
    pub fn backup(path: impl AsRef<Path>, to: impl AsRef<Path>, options: Options) -> Result<u64, StoreError> {
        let to = locate(to.as_ref())?;
        if to.symlink_metadata().is_ok() {
            return Err(taken(&to));
        }
        // That it is a store, this program's, and whole.
        Self::source(&path, options.clone())?.refuse_unfinished()?;
        let from = present(path.as_ref())?;
        let part = Part::new(&to)?;
        let raw = open(&from, Role::Reader, options.busy_timeout)?;
        raw.execute("VACUUM INTO ?1", [part.text()?]).map_err(|found| unfit(&from, found))?;
        part.begin_era(options.busy_timeout)?;
        part.check(options)?;
        part.finish(&to)
    }
}

fn taken(to: &Path) -> StoreError {
    StoreError::Unusable(format!("{} is there already, and is left as it is: name a new file", to.display()))
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unusable(format!("{} cannot be {what}: {error}", path.display()))
}

/// The copy under its other name; gone when dropped, unless it was finished.
struct Part(PathBuf);

impl Part {
    /// An empty file beside `to`, readable by its owner alone: the engine writes into it as it is.
    fn new(to: &Path) -> Result<Self, StoreError> {
        let mut name = to.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", fresh()?));
        let path = to.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(|error| failed("made", to, &error))?;
        Ok(Self(path))
    }

    fn text(&self) -> Result<&str, StoreError> {
        self.0.to_str().ok_or_else(|| {
            StoreError::Unusable(format!("{} is no UTF-8: name another file", self.0.display()))
        })
    }

    /// Cursors that the store hands out from here on are none of the copy's.
    fn begin_era(&self, busy: Duration) -> Result<(), StoreError> {
        let raw = open(&self.0, Role::Writer, busy)?;
        raw.execute(&era(), [fresh()?]).map_err(error)?;
        Ok(())
    }

    /// Opens the copy as a store, and refuses one that is not whole.
    fn check(&self, options: Options) -> Result<(), StoreError> {
        let damage = Sqlite::source(&self.0, options).and_then(Source::damage)?;
        match damage.first() {
            Some(says) => Err(StoreError::Unusable(format!(
                "the copy is not whole and was thrown away ({says}): check the store itself"
            ))),
            None => Ok(()),
        }
    }

    /// Brings it to the disk, and gives it its name.
    fn finish(self, to: &Path) -> Result<u64, StoreError> {
        let file = File::open(&self.0).map_err(|error| failed("read", &self.0, &error))?;
        file.sync_all().map_err(|error| failed("brought to the disk", &self.0, &error))?;
        let size = file.metadata().map_err(|error| failed("read", &self.0, &error))?.len();
        // Unlike a rename, a link replaces nothing.
        match fs::hard_link(&self.0, to) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(taken(to)),
            // A file system without links.
            Err(_) if to.symlink_metadata().is_ok() => return Err(taken(to)),
            Err(_) => fs::rename(&self.0, to).map_err(|error| failed("named", to, &error))?,
        }
        drop(self);
        #[cfg(unix)]
        if let Some(folder) = to.parent() {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(|error| failed("brought to the disk", folder, &error))?;
        }
        Ok(size)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Opened to be checked, it may have got a log beside it.
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut name = self.0.clone().into_os_string();
            name.push(end);
            let _ = fs::remove_file(name);
        }
    }
}
