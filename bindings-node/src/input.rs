//! Standard input, read on Node's own event loop without Node's streams: those take longer to load than all else that a server needs.

use napi::Env;
use napi::bindgen_prelude::{FnArgs, Function, Uint8Array};
use napi_derive::napi;

#[cfg(unix)]
use polled::{Input as Polled, unblocked};

/// A descriptor that is read while it is held.
#[napi]
pub struct Input {
    #[cfg(unix)]
    polled: Option<Polled>,
}

/// Reads a pipe or a socket into the buffer, by a descriptor of its own, so that Node can make `process.stdin` of the one that is given.
/// `told` gets how many bytes there are; 0 is the end, and comes with a text where that is an error. `null` where Node's own streams
/// are to be used: for files and terminals, in workers, on Windows and without Node.
#[napi]
pub fn poll_input(
    env: &Env,
    descriptor: i32,
    buffer: Uint8Array,
    told: Function<'_, FnArgs<(u32, Option<String>)>, ()>,
) -> napi::Result<Option<Input>> {
    #[cfg(unix)]
    let input = Polled::new(env, descriptor, buffer, &told)?.map(|polled| Input { polled: Some(polled) });
    #[cfg(not(unix))]
    let input = {
        let _ = (env, descriptor, buffer, told);
        None
    };
    Ok(input)
}

/// Whether this is a pipe or a socket, which from now on does not block.
#[napi]
pub fn unblock(descriptor: i32) -> bool {
    unblocked(descriptor)
}

#[cfg(not(unix))]
fn unblocked(_descriptor: i32) -> bool {
    false
}

#[napi]
impl Input {
    /// Stops reading, or goes on. While nothing is read, it keeps no process alive.
    #[napi]
    pub fn pause(&self, paused: bool) {
        #[cfg(unix)]
        if let Some(polled) = &self.polled {
            polled.pause(paused);
        }
        #[cfg(not(unix))]
        let _ = paused;
    }

    /// Reads no more. The descriptor that was given stays open.
    #[napi]
    pub fn close(&mut self) {
        #[cfg(unix)]
        drop(self.polled.take());
    }
}

#[cfg(unix)]
mod polled {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
    use std::ptr;
    use std::rc::Rc;

    use napi::bindgen_prelude::{FnArgs, Function, FunctionRef, ToNapiValue, Uint8Array};
    use napi::{Env, JsValue, sys};

    use crate::uv::{Poll, Readable};

    /// As many buffers as are filled before other work of the environment has its turn.
    const TURN: usize = 16;

    pub(super) struct Input(Poll<Source>);

    struct Source {
        descriptor: OwnedFd,
        listener: RefCell<Option<Rc<Listener>>>,
        paused: Cell<bool>,
    }

    /// What is held of the environment, until the input is closed or the environment ends.
    struct Listener {
        env: Env,
        told: FunctionRef<FnArgs<(u32, Option<String>)>, ()>,
        /// What goes with the calls of `told`, so that they are of the place where the input was opened.
        context: sys::napi_async_context,
        /// Where the bytes are put, which JavaScript looks into while it is told.
        bytes: *mut u8,
        length: usize,
        _buffer: Uint8Array,
    }

    impl Input {
        pub(super) fn new(
            env: &Env,
            descriptor: i32,
            mut buffer: Uint8Array,
            told: &Function<'_, FnArgs<(u32, Option<String>)>, ()>,
        ) -> napi::Result<Option<Self>> {
            if !is_pipe(descriptor) {
                return Ok(None);
            }
            let Some(own) = duplicate(descriptor) else {
                return Ok(None);
            };
            let number = own.as_raw_fd();
            // SAFETY: nothing is written to it but before JavaScript is told.
            let bytes = unsafe { buffer.as_mut() };
            let listener = Listener {
                env: *env,
                told: told.create_ref()?,
                context: context(env)?,
                bytes: bytes.as_mut_ptr(),
                length: bytes.len(),
                _buffer: buffer,
            };
            let source = Source {
                descriptor: own,
                listener: RefCell::new(Some(Rc::new(listener))),
                paused: Cell::new(false),
            };
            let Some(poll) = Poll::new(env, number, source) else {
                return Ok(None);
            };
            poll.start();
            Ok(Some(Self(poll)))
        }

        pub(super) fn pause(&self, paused: bool) {
            let source = self.0.data();
            source.paused.set(paused);
            if paused {
                self.0.stop();
            } else if source.listener.borrow().is_some() {
                self.0.start();
            }
        }
    }

    impl Drop for Input {
        fn drop(&mut self) {
            // The loop may close the handle after the environment has ended.
            self.0.data().listener.take();
        }
    }

    impl Readable for Source {
        fn readable(&self) -> bool {
            for _ in 0..TURN {
                let listener = self.listener.borrow().clone();
                let Some(listener) = listener.filter(|_| !self.paused.get()) else {
                    return false;
                };
                // SAFETY: the listener holds the buffer, which is as long as this.
                let read = unsafe { libc::read(self.descriptor.as_raw_fd(), listener.bytes.cast(), listener.length) };
                let error = io::Error::last_os_error();
                match usize::try_from(read) {
                    Ok(0) => {
                        self.listener.take();
                        listener.tell(0, None);
                        return false;
                    }
                    Ok(read) => {
                        listener.tell(read, None);
                        if read < listener.length {
                            break;
                        }
                    }
                    Err(_) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => {
                        self.listener.take();
                        listener.tell(0, Some(error.to_string()));
                        return false;
                    }
                }
            }
            !self.paused.get() && self.listener.borrow().is_some()
        }
    }

    impl Listener {
        fn tell(&self, read: usize, error: Option<String>) {
            let mut scope = ptr::null_mut();
            // SAFETY: the loop runs on the environment's thread, and a listener is gone before its environment.
            unsafe {
                if sys::napi_open_handle_scope(self.env.raw(), &raw mut scope) != sys::Status::napi_ok {
                    return;
                }
                // An environment that is about to end takes no calls.
                let _ = self.call(read, error);
                sys::napi_close_handle_scope(self.env.raw(), scope);
            }
        }

        /// Calls as the loop does, so that promises and `process.nextTick` have their turn afterwards.
        fn call(&self, read: usize, error: Option<String>) -> napi::Result<()> {
            let env = self.env.raw();
            let told = self.told.borrow_back(&self.env)?;
            // SAFETY: all values are of this environment and of the scope that is open.
            unsafe {
                let arguments = [
                    u32::to_napi_value(env, u32::try_from(read).unwrap_or(u32::MAX))?,
                    Option::<String>::to_napi_value(env, error)?,
                ];
                let (mut global, mut given) = (ptr::null_mut(), ptr::null_mut());
                sys::napi_get_global(env, &raw mut global);
                let status = sys::napi_make_callback(
                    env,
                    self.context,
                    global,
                    told.raw(),
                    arguments.len(),
                    arguments.as_ptr(),
                    &raw mut given,
                );
                if status == sys::Status::napi_pending_exception {
                    let mut thrown = ptr::null_mut();
                    if sys::napi_get_and_clear_last_exception(env, &raw mut thrown) == sys::Status::napi_ok {
                        sys::napi_fatal_exception(env, thrown);
                    }
                }
            }
            Ok(())
        }
    }

    impl Drop for Listener {
        fn drop(&mut self) {
            // SAFETY: it was made for this environment, and is destroyed once.
            unsafe { sys::napi_async_destroy(self.env.raw(), self.context) };
        }
    }

    fn context(env: &Env) -> napi::Result<sys::napi_async_context> {
        let mut context = ptr::null_mut();
        // SAFETY: the name is a value of this environment.
        let status = unsafe {
            let name = <&str>::to_napi_value(env.raw(), "oxmcp")?;
            sys::napi_async_init(env.raw(), ptr::null_mut(), name, &raw mut context)
        };
        match status {
            sys::Status::napi_ok => Ok(context),
            _ => Err(napi::Error::from_reason("no context for what is read")),
        }
    }

    pub(super) fn unblocked(descriptor: i32) -> bool {
        is_pipe(descriptor) && unblock(descriptor)
    }

    fn is_pipe(descriptor: i32) -> bool {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: `stat` is filled where the call succeeds.
        let kind = unsafe {
            if libc::fstat(descriptor, stat.as_mut_ptr()) != 0 {
                return false;
            }
            stat.assume_init().st_mode & libc::S_IFMT
        };
        kind == libc::S_IFIFO || kind == libc::S_IFSOCK
    }

    fn duplicate(descriptor: i32) -> Option<OwnedFd> {
        // SAFETY: descriptors are numbers; one that is not open gives an error. The new one is nobody else's.
        unsafe {
            let own = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3);
            (own >= 0).then(|| OwnedFd::from_raw_fd(own))
        }
    }

    fn unblock(descriptor: i32) -> bool {
        // SAFETY: descriptors are numbers; one that is not open gives an error.
        unsafe {
            let flags = libc::fcntl(descriptor, libc::F_GETFL);
            flags >= 0 && libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK) >= 0
        }
    }
}
