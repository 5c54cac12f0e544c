use std::time::Duration;

/// Rounds of each measurement; the median is told.
pub const ROUNDS: usize = 7;

/// Measurements of several ways to do one thing, their rounds interleaved.
pub struct Rounds {
    names: Vec<&'static str>,
    times: Vec<Vec<Duration>>,
}

impl Rounds {
    /// Measures each way once a round. A way is given the round's number and gives the time of one call.
    pub fn interleaved(
        ways: &mut [(&'static str, &mut dyn FnMut(usize) -> Duration)],
        rounds: usize,
    ) -> Self {
        let mut times = vec![Vec::with_capacity(rounds); ways.len()];
        for round in 0..rounds {
            for (at, (_, way)) in ways.iter_mut().enumerate() {
                times[at].push(way(round));
            }
        }
        Self { names: ways.iter().map(|(name, _)| *name).collect(), times }
    }

    /// The median time of one call, done this way.
    pub fn median(&self, way: usize) -> Duration {
        let mut times = self.times[way].clone();
        times.sort_unstable();
        times[times.len() / 2]
    }

    /// A line for each way: its median, and its ratio to the first.
    pub fn lines(&self) -> Vec<String> {
        let base = self.median(0).as_secs_f64();
        let line = |(at, name): (usize, &&str)| {
            let median = self.median(at).as_secs_f64();
            format!("  {name:<44} {:>10.2} µs   {:>6.2} ×", median * 1e6, median / base)
        };
        self.names.iter().enumerate().map(line).collect()
    }
}
