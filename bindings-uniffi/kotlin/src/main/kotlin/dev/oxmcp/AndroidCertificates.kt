package dev.oxmcp

/** Certificates of servers over `https` on Android, which the system itself checks. On other systems nothing needs to be done. */
public object AndroidCertificates {
    /**
     * Gives the native library the way to the system. Once, before the first connection over `https`, such as in
     * `Application.onCreate`.
     *
     * @param context an `android.content.Context`
     * @throws UsageException on another system
     */
    public fun use(context: Any) {
        val machine = System.getProperty("java.vm.name")
        if (machine != "Dalvik") throw UsageException("only Android checks certificates for an app; this is $machine")
        // JNA opens it in a way that the machine does not look into.
        System.loadLibrary(NativeLibrary.NAME)
        init(context)
    }

    @JvmStatic
    private external fun init(context: Any)
}
