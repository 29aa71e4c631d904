//! Parses metrics in the text format of Prometheus, as far as the page about the service needs them.

use super::super::parts::grouped;
use std::collections::BTreeMap;

/// All samples of an instance.
pub(super) struct Metrics(Vec<Sample>);

struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    fn label(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The response times of a route.
pub(super) struct Slow {
    pub(super) method: String,
    pub(super) route: String,
    pub(super) count: String,
    pub(super) mean: String,
    pub(super) within: String,
}

/// The buckets of a route: upper bounds and counts.
#[derive(Default)]
struct Times {
    buckets: Vec<(f64, f64)>,
    sum: f64,
    count: f64,
}

impl Times {
    /// The bound within which 95 of 100 requests were answered.
    fn within(&self) -> f64 {
        let found = self
            .buckets
            .iter()
            .find(|(_, within)| *within >= self.count * 0.95);
        found.map_or(f64::INFINITY, |(bound, _)| *bound)
    }
}

impl Metrics {
    /// Parses the samples; other lines are ignored.
    pub(super) fn read(text: &str) -> Self {
        Self(text.lines().filter_map(sample).collect())
    }

    /// The sum of a metric over all samples with these labels.
    pub(super) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let of = |sample: &&Sample| {
            sample.name == name
                && labels
                    .iter()
                    .all(|(label, value)| sample.label(label) == Some(value))
        };
        self.0.iter().filter(of).map(|sample| sample.value).sum()
    }

    /// The mean of a histogram; `None` if nothing was measured.
    pub(super) fn mean(&self, name: &str) -> Option<f64> {
        let count = self.sum(&format!("{name}_count"), &[]);
        (count > 0.0).then(|| self.sum(&format!("{name}_sum"), &[]) / count)
    }

    /// The sums of a metric by the values of a label, the largest first.
    pub(super) fn by_label(&self, name: &str, label: &str) -> Vec<(String, f64)> {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for sample in self.0.iter().filter(|sample| sample.name == name) {
            *sums.entry(sample.label(label).unwrap_or_default()).or_default() += sample.value;
        }
        let mut sums: Vec<_> = sums
            .into_iter()
            .map(|(value, sum)| (value.to_owned(), sum))
            .collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums
    }

    /// The slowest routes of a histogram of times.
    pub(super) fn slowest(&self, name: &str, most: usize) -> Vec<Slow> {
        let mut routes: BTreeMap<(&str, &str), Times> = BTreeMap::new();
        for sample in &self.0 {
            let Some(part) = sample.name.strip_prefix(name) else {
                continue;
            };
            let route = (
                sample.label("method").unwrap_or_default(),
                sample.label("route").unwrap_or_default(),
            );
            let times = routes.entry(route).or_default();
            match part {
                "_sum" => times.sum = sample.value,
                "_count" => times.count = sample.value,
                "_bucket" => {
                    let bound = sample
                        .label("le")
                        .and_then(|bound| bound.parse().ok())
                        .unwrap_or(f64::INFINITY);
                    times.buckets.push((bound, sample.value));
                }
                _ => {}
            }
        }
        let mut slow: Vec<_> = routes
            .into_iter()
            .filter(|(_, times)| times.count > 0.0)
            .collect();
        let mean = |times: &Times| times.sum / times.count;
        slow.sort_by(|(_, a), (_, b)| {
            b.within()
                .total_cmp(&a.within())
                .then(mean(b).total_cmp(&mean(a)))
        });
        let shown = slow.into_iter().take(most).map(|((method, route), times)| Slow {
            method: method.to_owned(),
            route: route.to_owned(),
            count: grouped(times.count as i64),
            mean: millis(mean(&times)),
            within: millis(times.within()),
        });
        shown.collect()
    }
}

fn millis(seconds: f64) -> String {
    match seconds {
        _ if seconds.is_infinite() => "longer".to_owned(),
        ..1.0 => format!("{:.1} ms", seconds * 1_000.0),
        _ => format!("{seconds:.1} s"),
    }
}

/// `name{label="value",…} number`
fn sample(line: &str) -> Option<Sample> {
    if line.starts_with('#') {
        return None;
    }
    let (head, value) = line.rsplit_once(' ')?;
    let (name, labels) = match head.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}')?),
        None => (head, ""),
    };
    // No label value of this service contains a quotation mark; those of routes contain braces.
    let labels = labels.split("\",").filter_map(|pair| {
        let (label, value) = pair.split_once("=\"")?;
        Some((label.to_owned(), value.trim_end_matches('"').to_owned()))
    });
    Some(Sample {
        name: name.to_owned(),
        labels: labels.collect(),
        value: value.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# HELP up x
up 1
total{method="GET",route="/a/{b}",status="200"} 3
total{method="PUT",route="/a/{b}",status="500"} 4
t_bucket{method="GET",route="/fast",le="0.001"} 10
t_bucket{method="GET",route="/fast",le="+Inf"} 10
t_sum{method="GET",route="/fast"} 0.005
t_count{method="GET",route="/fast"} 10
t_bucket{method="GET",route="/slow",le="0.001"} 1
t_bucket{method="GET",route="/slow",le="0.5"} 2
t_bucket{method="GET",route="/slow",le="+Inf"} 2
t_sum{method="GET",route="/slow"} 0.4
t_count{method="GET",route="/slow"} 2
"#;

    #[test]
    fn samples_are_added_up_by_their_labels() {
        let metrics = Metrics::read(TEXT);
        assert_eq!(metrics.sum("up", &[]), 1.0);
        assert_eq!(metrics.sum("total", &[]), 7.0);
        assert_eq!(
            metrics.sum("total", &[("route", "/a/{b}"), ("status", "500")]),
            4.0
        );
        assert_eq!(
            metrics.by_label("total", "method"),
            [("PUT".to_owned(), 4.0), ("GET".to_owned(), 3.0)]
        );
    }

    #[test]
    fn the_slowest_route_is_the_first() {
        let slow = Metrics::read(TEXT).slowest("t", 5);
        let listed: Vec<_> = slow
            .iter()
            .map(|one| (one.route.as_str(), one.mean.as_str(), one.within.as_str()))
            .collect();
        assert_eq!(
            listed,
            [("/slow", "200.0 ms", "500.0 ms"), ("/fast", "0.5 ms", "1.0 ms")]
        );
        assert_eq!(Metrics::read(TEXT).slowest("t", 1).len(), 1);
    }
}
