//! Certificates on Android: the system checks them, and native code reaches it through the Java machine and the app's
//! `Context`, which only the app can give.

use jni::EnvUnowned;
use jni::errors::{Result, ThrowRuntimeExAndDefault};
use jni::objects::{JClass, JObject};

/// `dev.oxmcp.AndroidCertificates.init(Context)`. Before the first connection over `https`; a second time does nothing.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_oxmcp_AndroidCertificates_init<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    context: JObject<'local>,
) {
    let given = env.with_env(|env| -> Result<()> { rustls_platform_verifier::android::init_with_env(env, context) });
    given.resolve::<ThrowRuntimeExAndDefault>()
}
