//! The event loop that Node runs on, as far as it is used: to hear that a descriptor can be read.
//!
//! Its functions are looked up where the addon runs. Other runtimes have Node-API and no such loop.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use napi::Env;

const READABLE: c_int = 1;
/// What `uv_handle_type` calls a poll handle.
const POLL: c_uint = 8;

type OnReadable = unsafe extern "C" fn(*mut c_void, c_int, c_int);
type OnClosed = unsafe extern "C" fn(*mut c_void);

struct Functions {
    default_loop: unsafe extern "C" fn() -> *mut c_void,
    handle_size: unsafe extern "C" fn(c_uint) -> usize,
    set_data: unsafe extern "C" fn(*mut c_void, *mut c_void),
    get_data: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    poll_init: unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int,
    poll_start: unsafe extern "C" fn(*mut c_void, c_int, OnReadable) -> c_int,
    poll_stop: unsafe extern "C" fn(*mut c_void) -> c_int,
    close: unsafe extern "C" fn(*mut c_void, OnClosed),
    is_closing: unsafe extern "C" fn(*const c_void) -> c_int,
}

fn functions() -> Option<&'static Functions> {
    static FOUND: OnceLock<Option<Functions>> = OnceLock::new();
    // SAFETY: these are the types of libuv's version 1, which it keeps.
    let find = || unsafe {
        Some(Functions {
            default_loop: symbol(c"uv_default_loop")?,
            handle_size: symbol(c"uv_handle_size")?,
            set_data: symbol(c"uv_handle_set_data")?,
            get_data: symbol(c"uv_handle_get_data")?,
            poll_init: symbol(c"uv_poll_init")?,
            poll_start: symbol(c"uv_poll_start")?,
            poll_stop: symbol(c"uv_poll_stop")?,
            close: symbol(c"uv_close")?,
            is_closing: symbol(c"uv_is_closing")?,
        })
    };
    FOUND.get_or_init(find).as_ref()
}

/// # Safety
///
/// `T` is the type of a pointer to the function of this name.
unsafe fn symbol<T>(name: &CStr) -> Option<T> {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: both are the size of a pointer, as the caller says.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

/// A handle of the loop, and the `T` that is told when its descriptor can be read. Dropped, the handle is closed, and the `T` goes
/// with it when the loop has let go of it.
pub(crate) struct Poll<T: Readable> {
    handle: NonNull<c_void>,
    functions: &'static Functions,
    held: NonNull<Held<T>>,
}

/// Is told that a descriptor can be read.
pub(crate) trait Readable {
    /// False when it wants to be told no more. It may drop the [`Poll`], which does not drop `self` yet.
    fn readable(&self) -> bool;
}

/// What the loop holds of a poll: it must not move.
struct Held<T> {
    data: T,
    /// Words, for the handle is aligned as they are.
    handle: Box<[u64]>,
}

impl<T: Readable> Poll<T> {
    /// `None` where there is no such loop, or it is none of the process's main thread: the loops of other threads end with them, and
    /// have to have closed all handles before.
    pub(crate) fn new(env: &Env, descriptor: c_int, data: T) -> Option<Self> {
        let functions = functions()?;
        let main_loop = env.get_uv_event_loop().ok()?.cast::<c_void>();
        // SAFETY: the loop is that of the thread that we are on. The handle is memory of the size that the loop wants, and stays where
        // it is.
        unsafe {
            if main_loop != (functions.default_loop)() {
                return None;
            }
            let words = (functions.handle_size)(POLL).div_ceil(size_of::<u64>());
            let mut held = Box::new(Held {
                data,
                handle: vec![0; words].into_boxed_slice(),
            });
            let handle: NonNull<c_void> = NonNull::from(&mut *held.handle).cast();
            if (functions.poll_init)(main_loop, handle.as_ptr(), descriptor) != 0 {
                return None;
            }
            let held = NonNull::from(Box::leak(held));
            (functions.set_data)(handle.as_ptr(), held.as_ptr().cast());
            Some(Self {
                handle,
                functions,
                held,
            })
        }
    }

    pub(crate) fn data(&self) -> &T {
        // SAFETY: it is freed after the handle was closed, which is when we are dropped.
        &unsafe { self.held.as_ref() }.data
    }

    /// From now on the loop tells, and the process does not end.
    pub(crate) fn start(&self) {
        // SAFETY: the handle is open.
        unsafe { (self.functions.poll_start)(self.handle.as_ptr(), READABLE, on_readable::<T>) };
    }

    pub(crate) fn stop(&self) {
        // SAFETY: the handle is open.
        unsafe { (self.functions.poll_stop)(self.handle.as_ptr()) };
    }
}

impl<T: Readable> Drop for Poll<T> {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nobody has it after us.
        unsafe { (self.functions.close)(self.handle.as_ptr(), on_closed::<T>) };
    }
}

unsafe extern "C" fn on_readable<T: Readable>(handle: *mut c_void, _status: c_int, _events: c_int) {
    // Whatever is the matter with the descriptor, reading from it tells.
    if let Some(functions) = functions() {
        // SAFETY: the data was set when the handle was made, and is freed after the loop has closed it.
        unsafe {
            let held = &*(functions.get_data)(handle).cast::<Held<T>>();
            if !held.data.readable() && (functions.is_closing)(handle) == 0 {
                (functions.poll_stop)(handle);
            }
        }
    }
}

unsafe extern "C" fn on_closed<T: Readable>(handle: *mut c_void) {
    if let Some(functions) = functions() {
        // SAFETY: as above; the loop has let go of the handle.
        drop(unsafe { Box::from_raw((functions.get_data)(handle).cast::<Held<T>>()) });
    }
}
