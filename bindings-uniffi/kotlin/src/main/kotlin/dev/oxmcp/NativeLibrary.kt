package dev.oxmcp

import dev.oxmcp.internal.uniffiEnsureInitialized

/** The native library. It is loaded on first use, and what keeps it from being loaded is told each time. */
internal object NativeLibrary {
    /** As the generated sources name it. */
    val NAME: String = System.getProperty("uniffi.component.oxmcp_uniffi.libraryOverride") ?: "oxmcp_uniffi"

    private val failure: Throwable? = try {
        uniffiEnsureInitialized()
        null
    } catch (error: Throwable) {
        error
    }

    /** @throws InternalFaultException when it can not be loaded */
    fun ensure() {
        val failure = failure ?: return
        val system = "${System.getProperty("os.name")} on ${System.getProperty("os.arch")}"
        val why = generateSequence(failure) { it.cause }.last().message
        throw InternalFaultException("the native library of oxmcp can not be loaded for $system: $why", failure)
    }
}
