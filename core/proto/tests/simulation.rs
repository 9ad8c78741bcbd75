//! A client and a server over a faulty link, at random, against a naive model.
//!
//! More cases than the usual 2,000: `PROPTEST_CASES=100000 cargo test -p oxmcp-proto --test simulation`.

mod sim;

use proptest::prelude::*;
use sim::{Op, World};

const CASES: u32 = 2_000;

fn config() -> ProptestConfig {
    let set = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: if set { default.cases } else { CASES },
        // The smallest failing input is printed; it belongs into a test of its own.
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_call_ends_once_and_nothing_is_left(
        described in any::<bool>(),
        at_rest in any::<bool>(),
        ops in proptest::collection::vec(any::<u64>().prop_map(Op::read), 60..140),
    ) {
        let mut world = World::new(described);
        // Most cases need the handshake behind them.
        for side in [1, 0, 1] {
            world.apply(&Op::Deliver(side, if described { 10_000 } else { 100 }));
        }
        for op in &ops {
            world.apply(op);
        }
        if at_rest {
            world.come_to_rest();
        }
        world.finish();
    }
}
