//! The verbs of each call through flat memory, for a host to whom structures at the border are dear: JNA makes an object
//! with a cleaner of each, which takes longer than the call itself. Here only numbers cross, some of them addresses.
//!
//! | function | does |
//! | --- | --- |
//! | `oxmcp_lane_wait` | `next_events`, on a thread that waits |
//! | `oxmcp_lane_verb` | `begin`, `respond`, `notify` and `cancel` |
//!
//! What lies in the memory is written and read as `UniFFI` writes and reads it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use uniffi::{Lift, Lower};

use crate::UniFfiTag;
use crate::endpoint::Endpoint;
use crate::event::Event;
use crate::failure::{Failure, Refusal};
use crate::verbs::{Notice, Reply, Request, RequestOptions};

/// How many events are given at once.
const BATCH: usize = 256;
/// There is no such lane any more.
const ENDED: i64 = i64::MIN;

static LANES: Mutex<BTreeMap<u64, Arc<Lane>>> = Mutex::new(BTreeMap::new());

struct Lane {
    endpoint: Arc<Endpoint>,
    /// Events that there was no room for.
    kept: Mutex<Vec<u8>>,
}

#[uniffi::export]
impl Endpoint {
    /// Opens the lane of an endpoint, in place of `next_events`; gives its number. It holds the endpoint until `close_lane`.
    pub fn open_lane(self: Arc<Self>) -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let lane = Lane {
            endpoint: self,
            kept: Mutex::default(),
        };
        lock(&LANES).insert(number, Arc::new(lane));
        number
    }
}

/// Lets go of a lane.
#[uniffi::export]
pub fn close_lane(lane: u64) {
    // Not under the lock: with it an endpoint may be let go of.
    let closed = lock(&LANES).remove(&lane);
    drop(closed);
}

fn lane(number: u64) -> Option<Arc<Lane>> {
    lock(&LANES).get(&number).cloned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for events and writes them. Gives how many bytes they are; 0 when the endpoint is over; -N when they have N bytes,
/// for which there is no room: they are given next.
///
/// # Safety
/// `room` is the address of `capacity` bytes that nobody else touches meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oxmcp_lane_wait(number: u64, room: *mut u8, capacity: u64) -> i64 {
    let Some(lane) = lane(number) else {
        return 0;
    };
    // SAFETY: the caller vouches for it.
    let room = unsafe { room_at(room, capacity) };
    catch_unwind(AssertUnwindSafe(|| lane.wait(room))).unwrap_or(0)
}

/// Runs a verb (0 `begin`, 1 `respond`, 2 `notify`, 3 `cancel`) whose arguments are the first `length` bytes. Gives what it
/// gives, 1 for true; -N when it was refused, and the failure has N bytes in the place of the arguments.
///
/// # Safety
/// `room` is the address of `capacity` bytes that nobody else touches meanwhile, and of which `length` were written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oxmcp_lane_verb(number: u64, verb: u32, room: *mut u8, length: u64, capacity: u64) -> i64 {
    let Some(lane) = lane(number) else {
        return ENDED;
    };
    // SAFETY: the caller vouches for it.
    let room = unsafe { room_at(room, capacity) };
    let given = usize::try_from(length).ok().and_then(|length| room.get(..length));
    let outcome = match given {
        Some(given) => lane.run(verb, given),
        None => Err(Refusal::usage("the arguments are longer than their memory")),
    };
    outcome.unwrap_or_else(|Refusal::Refused { failure }| write_failure(failure, room))
}

/// # Safety
/// As of the functions above.
unsafe fn room_at<'a>(room: *mut u8, capacity: u64) -> &'a mut [u8] {
    match usize::try_from(capacity) {
        // SAFETY: the caller vouches for it.
        Ok(capacity) if !room.is_null() => unsafe { slice::from_raw_parts_mut(room, capacity) },
        _ => &mut [],
    }
}

impl Lane {
    fn wait(&self, room: &mut [u8]) -> i64 {
        let mut kept = lock(&self.kept);
        if kept.is_empty() {
            let events = self.events();
            if events.is_empty() {
                return 0;
            }
            write(events, &mut kept);
        }
        let length = kept.len() as i64;
        let Some(room) = room.get_mut(..kept.len()) else {
            return -length;
        };
        room.copy_from_slice(&kept);
        kept.clear();
        // A long batch does not stay for good.
        kept.shrink_to(1 << 16);
        length
    }

    /// The next events, however long they take.
    fn events(&self) -> Vec<Event> {
        let waker = Waker::from(Arc::new(Parked(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            match self.endpoint.poll_events(BATCH, &mut context) {
                Poll::Ready(events) => return events,
                Poll::Pending => thread::park(),
            }
        }
    }

    fn run(&self, verb: u32, mut given: &[u8]) -> Result<i64, Refusal> {
        let given = &mut given;
        let connection: Option<u64> = read(given)?;
        let one = || connection.ok_or_else(|| Refusal::usage("the verb needs a connection"));
        let flag = i64::from;
        match verb {
            0 => {
                let (request, options): (Request, Option<RequestOptions>) = (read(given)?, read(given)?);
                self.endpoint.begin(one()?, request, options).map(u64::cast_signed)
            }
            1 => {
                let (id, reply): (u64, Reply) = (read(given)?, read(given)?);
                self.endpoint.respond(one()?, id, reply).map(flag)
            }
            2 => self.endpoint.notify(connection, read::<Notice>(given)?).map(flag),
            3 => {
                let (id, reason): (u64, Option<String>) = (read(given)?, read(given)?);
                self.endpoint.cancel(one()?, id, reason).map(flag)
            }
            _ => Err(Refusal::usage("there is no such verb")),
        }
    }
}

/// Wakes the thread that waits.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn read<T: Lift<UniFfiTag>>(given: &mut &[u8]) -> Result<T, Refusal> {
    T::try_read(given).map_err(|error| Refusal::usage(format!("the arguments are none: {error}")))
}

fn write<T: Lower<UniFfiTag>>(value: T, room: &mut Vec<u8>) {
    T::write(value, room);
}

/// Gives the negative length of what was written.
fn write_failure(mut failure: Failure, room: &mut [u8]) -> i64 {
    let mut bytes = Vec::new();
    write(failure.clone(), &mut bytes);
    if bytes.len() > room.len() {
        // The peer's data and words may have any length, and the room was made for the arguments.
        bytes.clear();
        failure.data = None;
        failure.message = failure.message.chars().take(room.len() / 8).collect();
        write(failure, &mut bytes);
    }
    match room.get_mut(..bytes.len()) {
        Some(room) => {
            room.copy_from_slice(&bytes);
            -(bytes.len() as i64)
        }
        None => ENDED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Happening;
    use crate::registry::Registry;

    const SERVER: &str = r#"{"info":{"name":"s","version":"1"},"settings":{},"server":"memory"}"#;
    const CLIENT: &str = r#"{"info":{"name":"c","version":"1"},"settings":{},"client":"memory"}"#;

    fn wait(lane: u64, room: &mut [u8]) -> Result<Vec<Event>, i64> {
        // SAFETY: the room is borrowed.
        let length = unsafe { oxmcp_lane_wait(lane, room.as_mut_ptr(), room.len() as u64) };
        let length = usize::try_from(length).map_err(|_| length)?;
        if length == 0 {
            return Ok(Vec::new());
        }
        Ok(read(&mut &room[..length]).expect("events"))
    }

    fn verb(lane: u64, verb: u32, given: &[u8]) -> Result<i64, Failure> {
        let mut room = vec![0; 4096];
        room[..given.len()].copy_from_slice(given);
        // SAFETY: the room is borrowed.
        let outcome = unsafe { oxmcp_lane_verb(lane, verb, room.as_mut_ptr(), given.len() as u64, 4096) };
        let length = outcome.checked_neg().and_then(|length| usize::try_from(length).ok());
        match length {
            Some(length) if length > 0 => Err(read(&mut &room[..length]).expect("a failure")),
            _ => Ok(outcome),
        }
    }

    #[test]
    fn a_call_crosses_and_events_wait_for_room() {
        let server = Endpoint::open(SERVER, &Registry::new(), None).expect("a server");
        let client = Endpoint::open(CLIENT, &Registry::new(), Some(Arc::clone(&server))).expect("a client");
        let connection = client.connection();
        let lane = client.open_lane();
        let missing = wait(lane, &mut []).expect_err("no room for Ready");
        assert!(missing < 0);
        let mut room = vec![0; usize::try_from(-missing).expect("a length")];
        let ready = wait(lane, &mut room).expect("room");
        assert!(matches!(ready[0].what, Happening::Ready { .. }));

        let mut given = Vec::new();
        write(connection, &mut given);
        write(Request::Ping, &mut given);
        write(None::<RequestOptions>, &mut given);
        let call = verb(lane, 0, &given).expect("begun");
        let mut room = vec![0; 4096];
        let events = wait(lane, &mut room).expect("room");
        assert!(matches!(events[0].what, Happening::Result { id, .. } if id.cast_signed() == call));

        let refused = verb(lane, 0, b"nonsense").expect_err("no arguments");
        assert!(
            refused.message.starts_with("the arguments are none"),
            "{}",
            refused.message
        );
        close_lane(lane);
        assert_eq!(verb(lane, 0, &given), Ok(ENDED));
        assert_eq!(wait(lane, &mut room), Ok(Vec::new()));
    }
}
