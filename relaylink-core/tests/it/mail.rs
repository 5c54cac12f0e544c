//! Every letter of a committed call goes out once, or is shown as what it is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use relaylink_core::{
    mail::{
        Answer, Courier, CourierError, DirectoryMailer, Letter, LetterState, Listed, Mailer, MemoryMailer,
        Message, OutboxError, Pace, Post, SendError, Tally, Trouble,
    },
    prelude::*,
    relay::{Clock, Relay, SystemClock, Timestamp, limits::MAIL_BODY_MAX},
    store::{Request, Store, StoreError, Verdict, Work, sqlite::Sqlite},
    tool::Caller,
};

/// A clock set by hand.
#[derive(Clone)]
struct Hand(Arc<AtomicI64>);

impl Hand {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_767_225_600_000)))
    }

    fn forward(&self, wait: Duration) {
        self.0.fetch_add(i64::try_from(wait.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Mails somebody, and may think better of it.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(ExternalMail))]
struct Mails {
    /// Where to.
    to: String,
    /// About what.
    subject: String,
    /// What.
    body: String,
    /// Refuses once the letter is queued.
    refuse: bool,
}

#[derive(Serialize, JsonSchema)]
struct Queued {}

impl Run for Mails {
    type Reply = Queued;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Queued, Stop> {
        let to = self.to.parse().map_err(|error| {
            Stop::refuse(Code::InvalidArgument, relaylink_core::relay::AddressError::to_string(&error))
        })?;
        tx.mail(Letter::new(to, &self.subject, &self.body, "pkg_1"))?;
        if self.refuse {
            return Err(Stop::refuse(Code::Conflict, "on second thoughts"));
        }
        Ok(Queued {})
    }
}

fn to(address: &str) -> Mails {
    Mails { to: address.into(), subject: "Hello".into(), body: "text".into(), refuse: false }
}

struct Bench {
    folder: tempfile::TempDir,
    store: Arc<dyn Store>,
    clock: Hand,
    post: Post,
    mailer: MemoryMailer,
    relay: Relay,
}

impl Bench {
    fn new() -> Self {
        Self::over(|store| Arc::new(store))
    }

    fn over(wrap: impl FnOnce(Sqlite) -> Arc<dyn Store>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = wrap(Sqlite::open(folder.path().join("relay.db")).unwrap());
        let clock = Hand::new();
        let post = Post::new("RelayLink", "relay@relay.example.org".parse().unwrap());
        let relay = Relay::builder(Arc::clone(&store))
            .clock(clock.clone())
            .post(post.clone())
            .tool::<Mails>()
            .build()
            .unwrap();
        Self { folder, store, clock, post, mailer: MemoryMailer::new(), relay }
    }

    async fn queue(&self, mails: Mails) -> Result<(), Stop> {
        self.relay.run(&Caller::local("acc_ana"), mails).await.map(drop)
    }

    fn courier(&self, pace: Pace) -> Courier {
        self.courier_for(Arc::new(self.mailer.clone()), pace)
    }

    fn courier_for(&self, mailer: Arc<dyn Mailer>, pace: Pace) -> Courier {
        Courier::new(Arc::clone(&self.store), mailer, Arc::new(self.clock.clone()), self.post.clone())
            .at(pace)
    }

    async fn listed(&self, state: Option<LetterState>) -> Vec<Listed> {
        self.courier(Pace::default()).outbox().list(state, None, 100).await.unwrap()
    }

    async fn only(&self) -> Listed {
        let mut listed = self.listed(None).await;
        assert_eq!(listed.len(), 1);
        listed.remove(0)
    }
}

fn tally(sent: usize, waiting: usize, failed: usize, unknown: usize) -> Tally {
    let mut tally = Tally::default();
    (tally.sent, tally.waiting, tally.failed, tally.unknown) = (sent, waiting, failed, unknown);
    tally
}

/// Waits until it is so, for ten seconds at most.
async fn until(what: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to be");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_couriers_on_one_file_send_each_letter_once() {
    let bench = Bench::new();
    let other = Arc::new(Sqlite::open(bench.folder.path().join("relay.db")).unwrap());
    for n in 0..100 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    // Four at a time, 250 ms each: the whole outlasts a lease, which is 5 s.
    bench.mailer.delay(Duration::from_millis(250));
    let pace = Pace {
        in_flight: 1,
        send_timeout: Duration::from_secs(2),
        lease_margin: Duration::from_secs(3),
        ..Pace::default()
    };
    let mut couriers = tokio::task::JoinSet::new();
    for store in [Arc::clone(&bench.store), other] {
        for _ in 0..2 {
            let mailer = Arc::new(bench.mailer.clone());
            let courier =
                Courier::new(Arc::clone(&store), mailer, Arc::new(SystemClock), bench.post.clone()).at(pace);
            couriers.spawn(async move { courier.drain().await.unwrap() });
        }
    }
    let began = std::time::Instant::now();
    let tallies = couriers.join_all().await;
    assert!(began.elapsed() > Duration::from_secs(5), "the whole did not outlast a lease");
    assert_eq!(tallies.iter().map(|tally| tally.sent).sum::<usize>(), 100);
    assert!(tallies.iter().all(|tally| tally.unknown == 0), "one gave up another's attempts: {tallies:?}");
    assert!(tallies.iter().all(|tally| tally.sent > 10), "one did nearly all: {tallies:?}");
    for letter in bench.listed(None).await {
        assert_eq!((letter.state, letter.attempts), (LetterState::Sent, 1));
        assert_eq!(bench.mailer.attempts_of(&letter.message_id), 1);
    }
    assert_eq!(bench.mailer.attempts().len(), 100);
}

#[tokio::test]
async fn a_mailer_that_stalls_or_panics_delays_no_other_and_leaves_its_letter_unknown() {
    let bench = Bench::new();
    bench.mailer.answer(&"stall@example.org".parse().unwrap(), [Answer::Stall]);
    bench.mailer.answer(&"panic@example.org".parse().unwrap(), [Answer::Panic]);
    for address in ["stall@example.org", "panic@example.org"] {
        bench.queue(to(address)).await.unwrap();
    }
    for n in 0..30 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    let pace = Pace { in_flight: 2, send_timeout: Duration::from_secs(5), ..Pace::default() };
    let courier = bench.courier(pace);
    let draining = tokio::spawn(async move { courier.drain().await.unwrap() });
    until(|| bench.mailer.sent().len() == 31).await;
    assert!(!draining.is_finished(), "the others were to go while one stalled");
    assert_eq!(draining.await.unwrap(), tally(30, 0, 0, 2));
    let mut unknown = bench.listed(Some(LetterState::Unknown)).await;
    unknown.sort_by(|a, b| b.to.as_str().cmp(a.to.as_str()));
    let addresses: Vec<_> = unknown.iter().map(|letter| letter.to.as_str()).collect();
    assert_eq!(addresses, ["stall@example.org", "panic@example.org"]);
    assert!(unknown.iter().all(|letter| letter.trouble == Some(Trouble::NoAnswer)));
    assert_eq!(unknown[0].detail.as_deref(), Some("the mailer did not answer in 5 seconds"));

    bench.clock.forward(Duration::from_hours(24));
    assert_eq!(bench.courier(pace).drain().await, Ok(tally(0, 0, 0, 0)));
}

#[tokio::test]
async fn what_cannot_go_now_goes_later_and_no_sooner() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Temporary, Answer::Temporary]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace::default());
    for wait in [30, 60] {
        assert_eq!(courier.drain().await, Ok(tally(0, 1, 0, 0)));
        let letter = bench.only().await;
        assert_eq!((letter.state, letter.trouble), (LetterState::Waiting, Some(Trouble::Temporary)));
        assert_eq!(letter.detail.as_deref(), Some("451 try again later"));
        assert_eq!(letter.due, bench.clock.now().plus_millis(wait * 1_000));
        bench.clock.forward(Duration::from_millis(u64::try_from(wait).unwrap() * 1_000 - 1));
        assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
        bench.clock.forward(Duration::from_millis(1));
    }
    assert_eq!(courier.drain().await, Ok(tally(1, 0, 0, 0)));
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.trouble, letter.attempts), (LetterState::Sent, None, 3));
    assert_eq!(letter.settled, Some(bench.clock.now()));
    let attempts = bench.mailer.attempts();
    assert!(attempts.iter().all(|message| message.message_id == letter.message_id));
    assert_eq!(attempts.iter().map(|message| message.attempt).collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test]
async fn a_letter_that_could_never_go_has_failed_in_the_end() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Temporary; 9]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace { attempts_max: 3, ..Pace::default() });
    for _ in 0..2 {
        assert_eq!(courier.drain().await, Ok(tally(0, 1, 0, 0)));
        bench.clock.forward(Duration::from_hours(1));
    }
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 1, 0)));
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.trouble), (LetterState::Failed, Some(Trouble::Temporary)));
    assert_eq!(bench.mailer.attempts().len(), 3);
}

#[tokio::test]
async fn a_refusal_for_good_is_final_and_shown() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Permanent]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace::default());
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 1, 0)));
    bench.clock.forward(Duration::from_hours(24));
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.trouble), (LetterState::Failed, Some(Trouble::Permanent)));
    assert_eq!(letter.detail.as_deref(), Some("550 no such person"));
    assert_eq!(bench.mailer.attempts().len(), 1);
}

#[tokio::test]
async fn a_courier_lost_in_the_middle_of_an_attempt_leaves_its_letter_unknown_and_only_a_word_resends_it() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Stall]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let pace = Pace::default();
    let lost = bench.courier(pace);
    let draining = tokio::spawn(async move { lost.drain().await });
    until(|| bench.mailer.attempts().len() == 1).await;
    draining.abort();
    assert!(draining.await.unwrap_err().is_cancelled());

    let courier = bench.courier(pace);
    let outbox = courier.outbox();
    bench
        .clock
        .forward((pace.send_timeout + pace.lease_margin).checked_sub(Duration::from_millis(1)).unwrap());
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
    let letter = bench.only().await;
    assert_eq!(letter.state, LetterState::Waiting);
    let early = outbox.resend(&letter.id).await;
    assert_eq!(early, Err(OutboxError::NotOver(letter.id.clone(), LetterState::Waiting)));

    bench.clock.forward(Duration::from_millis(1));
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 1)));
    bench.clock.forward(Duration::from_hours(24));
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
    assert_eq!(bench.only().await.state, LetterState::Unknown);
    assert_eq!(bench.mailer.attempts_of(&letter.message_id), 1);

    assert_eq!(outbox.resend(&letter.id).await, Ok(()));
    assert_eq!(courier.drain().await, Ok(tally(1, 0, 0, 0)));
    assert_eq!(bench.mailer.attempts_of(&letter.message_id), 2);
    assert_eq!(bench.only().await.state, LetterState::Sent);
    let late = outbox.resend(&letter.id).await;
    assert_eq!(late, Err(OutboxError::NotOver(letter.id.clone(), LetterState::Sent)));
}

/// Loses the answers of the next works that write, once they have landed.
struct Lossy {
    store: Sqlite,
    lose: AtomicU32,
}

#[async_trait]
impl Store for Lossy {
    async fn transact(&self, request: Request, work: Work) -> Result<Verdict, StoreError> {
        let reads = request.access.is_read();
        let verdict = self.store.transact(request, work).await?;
        let lost = !reads
            && self.lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if lost { Err(StoreError::Unknown) } else { Ok(verdict) }
    }
}

#[tokio::test]
async fn a_store_that_loses_an_answer_costs_no_letter_and_sends_none_twice() {
    let mut lossy = None;
    let bench = Bench::over(|store| {
        let store = Arc::new(Lossy { store, lose: AtomicU32::new(0) });
        lossy = Some(Arc::clone(&store));
        store
    });
    let lossy = lossy.unwrap();
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace::default());
    // The claim's answer, and the next one's.
    for _ in 0..2 {
        lossy.lose.store(1, Ordering::SeqCst);
        assert_eq!(courier.drain().await, Err(CourierError::Store(StoreError::Unknown)));
    }
    assert_eq!(bench.mailer.attempts().len(), 0);
    // Those of the record alone: the mailer is slow enough to have them set.
    bench.mailer.delay(Duration::from_millis(300));
    let draining = tokio::spawn(async move { courier.drain().await });
    until(|| bench.mailer.attempts().len() == 1).await;
    lossy.lose.store(3, Ordering::SeqCst);
    assert_eq!(draining.await.unwrap(), Ok(tally(1, 0, 0, 0)));
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.attempts), (LetterState::Sent, 1));
    assert_eq!(bench.mailer.attempts().len(), 1);
}

#[tokio::test]
async fn a_call_that_is_refused_sends_nothing() {
    let bench = Bench::new();
    assert!(bench.queue(Mails { refuse: true, ..to("ben@example.org") }).await.is_err());
    assert_eq!(bench.listed(None).await, []);
}

#[tokio::test]
async fn a_text_of_the_longest_size_goes_and_a_longer_one_is_refused() {
    let bench = Bench::new();
    let longest = "x".repeat(MAIL_BODY_MAX);
    let over = Mails { body: format!("{longest}x"), ..to("ben@example.org") };
    let Err(Stop::Refused(refusal)) = bench.queue(over).await else { panic!("it was taken") };
    assert_eq!(refusal.code, Code::QuotaExceeded);
    bench.queue(Mails { body: longest, ..to("ben@example.org") }).await.unwrap();
    assert_eq!(bench.courier(Pace::default()).drain().await, Ok(tally(1, 0, 0, 0)));
}

#[tokio::test]
async fn nothing_in_a_subject_adds_a_header_or_a_recipient() {
    let bench = Bench::new();
    for end in ["\r\n", "\n", "\r", "\u{2028}", "\0", "\r\n\r\n"] {
        let subject = format!("Hello{end}Bcc: x@evil.example");
        bench.queue(Mails { subject, ..to("ben@example.org") }).await.unwrap();
    }
    bench.courier(Pace::default()).drain().await.unwrap();
    let sent = bench.mailer.sent();
    assert_eq!(sent.len(), 6);
    for message in sent {
        let bytes = message.to_rfc5322().unwrap();
        let read = mail_parser::MessageParser::default().parse(&bytes).unwrap();
        assert!(read.bcc().is_none());
        assert_eq!(read.subject(), Some("Hello Bcc: x@evil.example"));
        assert_eq!(message.to.as_str(), "ben@example.org");
        assert_eq!(read.to().unwrap().as_list().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_domain_goes_out_in_ascii_and_a_local_part_beyond_it_is_refused_up_front() {
    let bench = Bench::new();
    bench.queue(to("user@köln.example")).await.unwrap();
    let Err(Stop::Refused(refusal)) = bench.queue(to("jösé@example.org")).await else {
        panic!("it was taken")
    };
    assert_eq!(refusal.code, Code::InvalidArgument);
    bench.courier(Pace::default()).drain().await.unwrap();
    let sent = bench.mailer.sent();
    assert_eq!(sent.len(), 1);
    let text = String::from_utf8(sent[0].to_rfc5322().unwrap()).unwrap();
    assert!(text.contains("To: user@xn--kln-sna.example\r\n"), "{text}");
}

#[tokio::test]
async fn a_courier_at_work_is_woken_by_the_commit_and_ends_when_told() {
    let bench = Bench::new();
    // It would sleep for an hour if nobody woke it.
    let courier = bench.courier(Pace { poll: Duration::from_hours(1), ..Pace::default() });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { courier.run(async { drop(stopped.await) }).await });
    for n in 1..=3 {
        bench.queue(to("ben@example.org")).await.unwrap();
        until(|| bench.mailer.sent().len() == n).await;
    }
    // One that is under way when it is told to stop is finished and written down.
    bench.mailer.delay(Duration::from_millis(300));
    bench.queue(to("ben@example.org")).await.unwrap();
    until(|| bench.mailer.attempts().len() == 4).await;
    stop.send(()).unwrap();
    assert_eq!(running.await.unwrap(), Ok(()));
    assert!(bench.listed(None).await.iter().all(|letter| letter.state == LetterState::Sent));
}

#[tokio::test]
async fn a_courier_told_to_stop_waits_for_no_mailer_that_stalls() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Stall]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace { stop: Duration::from_millis(500), ..Pace::default() });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { courier.run(async { drop(stopped.await) }).await });
    until(|| bench.mailer.attempts().len() == 1).await;
    stop.send(()).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(5), running).await;
    assert_eq!(ended.expect("it waits").unwrap(), Ok(()));
    let letter = bench.only().await;
    assert_eq!(letter.state, LetterState::Unknown);
    assert_eq!(letter.detail.as_deref(), Some("the program ended before the mailer answered"));
}

#[test]
fn outside_a_runtime_a_courier_says_so() {
    let bench = Bench::new();
    let courier = bench.courier(Pace::default());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let drained = std::pin::pin!(courier.drain()).poll(&mut context);
    assert_eq!(drained, std::task::Poll::Ready(Err(CourierError::NoRuntime)));
    let ran = std::pin::pin!(courier.run(std::future::pending())).poll(&mut context);
    assert_eq!(ran, std::task::Poll::Ready(Err(CourierError::NoRuntime)));
}

#[tokio::test]
async fn a_mailer_of_files_writes_one_an_attempt() {
    let bench = Bench::new();
    let mailer = DirectoryMailer::new(bench.folder.path().join("mail"));
    let courier = bench.courier_for(Arc::new(mailer.clone()), Pace::default());
    for n in 0..20 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    assert_eq!(courier.drain().await, Ok(tally(20, 0, 0, 0)));
    let mut names: Vec<_> = std::fs::read_dir(mailer.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected: Vec<_> = bench
        .listed(None)
        .await
        .iter()
        .map(|letter| format!("{}.1.eml", letter.message_id.trim_matches(['<', '>'])))
        .collect();
    expected.sort();
    assert_eq!(names, expected);
}

/// Refuses everything as an outage would.
struct Away;

#[async_trait]
impl Mailer for Away {
    async fn send(&self, _: &Message) -> Result<(), SendError> {
        Err(SendError::Temporary("no connection".into()))
    }
}

#[tokio::test]
async fn an_outage_keeps_the_queue_whole() {
    let bench = Bench::new();
    for n in 0..20 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    let away = bench.courier_for(Arc::new(Away), Pace::default());
    for _ in 0..5 {
        assert_eq!(away.drain().await, Ok(tally(0, 20, 0, 0)));
        bench.clock.forward(Duration::from_mins(10));
    }
    assert_eq!(bench.courier(Pace::default()).drain().await, Ok(tally(20, 0, 0, 0)));
    let (outbox, mut after, mut seen) = (away.outbox(), None, 0);
    loop {
        let page = outbox.list(None, after.as_ref(), 7).await.unwrap();
        seen += page.len();
        assert!(page.iter().all(|letter| letter.state == LetterState::Sent));
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
    }
    assert_eq!(seen, 20);
}
