//! How fast the pure parts are: reading the DSL and documents, writing them, diffs. `make bench-micro` runs this and then
//! counts instructions, which a noisy machine does not change.

mod work;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::Duration;

/// Times as much input as in use: what is linear has the same throughput at each.
const SCALES: [usize; 3] = [1, 2, 4];

fn pure_parts(criterion: &mut Criterion) {
    for scale in SCALES {
        for work in work::all(scale) {
            let mut group = criterion.benchmark_group(work.name);
            group.throughput(Throughput::Bytes(work.bytes as u64));
            group.bench_function(BenchmarkId::from_parameter(scale), |bencher| {
                bencher.iter(|| work.run());
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30);
    targets = pure_parts
}
criterion_main!(benches);
