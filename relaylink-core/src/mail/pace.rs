use std::time::Duration;

use crate::relay::{Timestamp, limits};

/// How fast a courier works. [`Pace::default`] is what [`limits`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Attempts at once.
    pub in_flight: usize,
    /// How long an attempt may take; one that takes longer counts as unknown.
    pub send_timeout: Duration,
    /// How much longer than that its lease holds.
    pub lease_margin: Duration,
    /// How often it looks for mail that other processes queued.
    pub poll: Duration,
    /// From the first attempt to the second; doubled for each one after it.
    pub retry_first: Duration,
    /// Between two attempts at most.
    pub retry_most: Duration,
    /// Attempts until a letter that could not go has failed.
    pub attempts_max: u32,
    /// What attempts under way are given when it is told to stop.
    pub stop: Duration,
    /// What a look at the outbox is given before that.
    pub stop_look: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            in_flight: limits::MAIL_IN_FLIGHT,
            send_timeout: Duration::from_secs(limits::MAIL_SEND_SECONDS),
            lease_margin: Duration::from_secs(limits::MAIL_LEASE_MARGIN_SECONDS),
            poll: Duration::from_secs(limits::MAIL_POLL_SECONDS),
            retry_first: Duration::from_secs(limits::MAIL_RETRY_FIRST_SECONDS),
            retry_most: Duration::from_secs(limits::MAIL_RETRY_MOST_SECONDS),
            attempts_max: limits::MAIL_ATTEMPTS_MAX,
            stop: Duration::from_secs(limits::MAIL_STOP_SECONDS),
            stop_look: Duration::from_millis(limits::MAIL_STOP_LOOK_MS),
        }
    }
}

impl Pace {
    /// When an attempt that begins now is given up by whoever finds it.
    pub(super) fn lease_until(&self, now: Timestamp) -> Timestamp {
        after(now, self.send_timeout.saturating_add(self.lease_margin))
    }

    /// When to try again after this many attempts; nothing when it was the last.
    pub(super) fn retry_at(&self, now: Timestamp, attempts: u32) -> Option<Timestamp> {
        if attempts >= self.attempts_max {
            return None;
        }
        let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
        Some(after(now, self.retry_first.saturating_mul(doubled).min(self.retry_most)))
    }
}

fn after(now: Timestamp, wait: Duration) -> Timestamp {
    now.plus_millis(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_double_up_to_an_hour_and_last_about_four_days() {
        let start = Timestamp::from_millis(0);
        let waits: Vec<_> = (1..)
            .map_while(|attempts| Pace::default().retry_at(start, attempts))
            .map(|at| at.as_millis() / 1_000)
            .collect();
        assert_eq!(waits[..9], [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
        assert_eq!(waits.len(), 99);
        let days = waits.iter().sum::<i64>() / 86_400;
        assert!((3..=5).contains(&days), "{days}");
    }

    #[test]
    fn a_lease_outlives_its_attempt() {
        let pace = Pace::default();
        let until = pace.lease_until(Timestamp::from_millis(0)).as_millis();
        assert!(until > i64::try_from(pace.send_timeout.as_millis()).unwrap());
    }
}
