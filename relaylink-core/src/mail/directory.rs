use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;

use super::{Mailer, Message, SendError};
use crate::relay::limits::MAIL_FILE_NAME_MAX;

/// Writes each attempt as a file of its own, `MESSAGE-ID.ATTEMPT.eml`: for a Relay whose mail is
/// read on the machine, or picked up by another program. A file is there whole or not at all.
#[derive(Clone, Debug)]
pub struct DirectoryMailer {
    folder: Arc<Path>,
}

impl DirectoryMailer {
    /// Mail as files in this folder, which is made where it is missing.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into().into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

#[async_trait]
impl Mailer for DirectoryMailer {
    async fn send(&self, message: &Message) -> Result<(), SendError> {
        let bytes = message.to_rfc5322()?;
        let name = file_name(message);
        let folder = Arc::clone(&self.folder);
        let runtime = tokio::runtime::Handle::try_current()
            .map_err(|_| SendError::Temporary("mail is written within a Tokio runtime only".into()))?;
        match runtime.spawn_blocking(move || write(&folder, &name, &bytes)).await {
            Ok(result) => result,
            Err(_) => Err(SendError::Unknown("the writing of the file was broken off".into())),
        }
    }
}

fn file_name(message: &Message) -> String {
    let id: String = message
        .message_id
        .trim_matches(['<', '>'])
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '@' | '.') { c } else { '_' })
        .take(MAIL_FILE_NAME_MAX)
        .collect();
    format!("{id}.{}.eml", message.attempt)
}

/// Writes the file under another name, syncs it, and renames it when it is whole.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), SendError> {
    let target = folder.join(name);
    let passing = folder.join(format!(".{name}.part"));
    let failed = |error: io::Error| {
        SendError::Temporary(format!("the mail could not be written to {}: {error}", target.display()))
    };
    make(folder).map_err(failed)?;
    if target.try_exists().map_err(failed)? {
        return Err(SendError::Unknown(format!("{} is there already", target.display())));
    }
    let written = fill(&passing, bytes).and_then(|()| fs::rename(&passing, &target));
    if let Err(error) = written {
        let _ = fs::remove_file(&passing);
        return Err(failed(error));
    }
    sync(folder).map_err(|error| {
        SendError::Unknown(format!("{} was written and may not last: {error}", target.display()))
    })
}

fn make(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn fill(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the name last. Only Unix has a way to say it.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{
        super::mailer::tests::{message, samples},
        *,
    };

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn an_attempt_is_a_whole_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mailer = DirectoryMailer::new(folder.path().join("a/b"));
        let mut message = message("Hello", "text");
        mailer.send(&message).await.unwrap();
        assert!(matches!(mailer.send(&message).await, Err(SendError::Unknown(_))));
        message.attempt = 2;
        mailer.send(&message).await.unwrap();
        assert_eq!(
            names(mailer.folder()),
            ["mal_1@relay.example.org.1.eml", "mal_1@relay.example.org.2.eml"]
        );
        let bytes = fs::read(mailer.folder().join("mal_1@relay.example.org.1.eml")).unwrap();
        assert_eq!(bytes, message.to_rfc5322().unwrap());
    }

    #[tokio::test]
    async fn a_message_id_never_leaves_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mailer = DirectoryMailer::new(folder.path());
        let mut message = message("Hello", "text");
        message.message_id = format!("<../../{}\0@x>", "a".repeat(300));
        mailer.send(&message).await.unwrap();
        let names = names(folder.path());
        assert_eq!(names.len(), 1);
        assert!(names[0].starts_with(".._.._aaa") && names[0].len() < 255, "{names:?}");
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_used_is_tried_again_later() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "in the way").unwrap();
        let sent = DirectoryMailer::new(file).send(&message("Hello", "text")).await;
        assert!(matches!(sent, Err(SendError::Temporary(_))), "{sent:?}");
    }

    #[test]
    fn outside_a_runtime_it_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mailer = DirectoryMailer::new(folder.path());
        let message = message("Hello", "text");
        let mut sending = mailer.send(&message);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(sent) = sending.as_mut().poll(&mut context) else {
            panic!("it waits for nothing")
        };
        assert!(matches!(sent, Err(SendError::Temporary(_))), "{sent:?}");
    }

    /// Reads every file as Python's `email` does and prints what does not please it.
    const PYTHON: &str = r"
import email, email.policy, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).glob('*.eml')):
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    for part in message.walk():
        part.get_content()
        defects = list(part.defects) + [d for value in part.values() for d in value.defects]
        if defects:
            print(path.name, [(d, str(d)) for d in defects])
    print('read', repr(message['subject']))
";

    #[tokio::test]
    async fn pythons_parser_finds_no_defect() {
        if std::env::var_os("RELAYLINK_TEST_PYTHON").is_none() {
            // Past the capture of a passing test's output.
            let off = "switched off: set RELAYLINK_TEST_PYTHON=1 to read the mails with python3";
            writeln!(io::stderr(), "{off}").unwrap();
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let mailer = DirectoryMailer::new(folder.path());
        let samples = samples();
        for (at, mut message) in samples.iter().cloned().enumerate() {
            message.message_id = format!("<mal_{at}@relay.example.org>");
            mailer.send(&message).await.unwrap();
        }
        let output =
            Command::new("python3").args(["-X", "utf8", "-c", PYTHON]).arg(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let others: Vec<_> = text.lines().filter(|line| !line.starts_with("read ")).collect();
        assert_eq!(others, Vec::<&str>::new());
        assert_eq!(text.lines().count(), samples.len());
    }
}
