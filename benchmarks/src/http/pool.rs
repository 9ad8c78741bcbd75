//! Several connections at once, each with one request under way, on one thread.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::event::epoll;

use super::connection::{Connection, Reply};
use crate::process::Result;

/// How long all connections may be silent.
const PATIENCE: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 30, tv_nsec: 0 };

pub(crate) struct Pool {
    epoll: rustix::fd::OwnedFd,
    connections: Vec<Connection>,
    /// When each connection's request was sent.
    sent: Vec<Instant>,
}

impl Pool {
    pub(crate) fn open(address: SocketAddr, count: usize) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut connections = Vec::with_capacity(count);
        for index in 0..count {
            let connection = Connection::open(address)?.nonblocking()?;
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&epoll, connection.socket(), data, epoll::EventFlags::IN)?;
            connections.push(connection);
        }
        Ok(Self {
            epoll,
            connections,
            sent: vec![Instant::now(); count],
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Moves all connections until none has a request under way. `turn` gets a connection's number and the response to its
    /// last request with the time that took, at first none; it writes the next request, or says false for the end.
    pub(crate) fn run(
        &mut self,
        mut turn: impl FnMut(usize, Option<(Reply<'_>, Duration)>, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<()> {
        let mut request = Vec::new();
        let mut busy = 0;
        for index in 0..self.connections.len() {
            if turn(index, None, &mut request)? {
                busy += 1;
                self.send(index, &request)?;
            }
        }
        let mut events = Vec::with_capacity(self.connections.len());
        while busy > 0 {
            events.clear();
            epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&PATIENCE),
            )?;
            if events.is_empty() {
                return Err("it did not answer in time".into());
            }
            for event in &events {
                let index = usize::try_from(event.data.u64())?;
                let connection = &mut self.connections[index];
                if !connection.fill()? {
                    continue;
                }
                let took = self.sent[index].elapsed();
                if turn(index, Some((connection.reply()?, took)), &mut request)? {
                    self.send(index, &request)?;
                } else {
                    busy -= 1;
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, index: usize, request: &[u8]) -> Result<()> {
        self.sent[index] = Instant::now();
        self.connections[index].send(request)
    }
}
