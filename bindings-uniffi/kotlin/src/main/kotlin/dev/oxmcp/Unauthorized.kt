package dev.oxmcp

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async

/**
 * A server refused a request for want of authorization (`basic/authorization` of the specification), see
 * [HttpClientOptions.onUnauthorized].
 *
 * @property status 401, or 403 with a challenge: the credentials do not allow enough
 * @property wwwAuthenticate the values of the header field `WWW-Authenticate`, joined with commas; null when there is none
 */
public data class Unauthorized(val status: Int, val wwwAuthenticate: String?)

/**
 * Asks the program for other header fields, and [give]s them, or why there are none.
 *
 * The core has one request at a time that waits for them. It may give up, and another may wait in its place: that one has what
 * the function gives which runs already.
 */
internal class Credentials(private val give: (fields: Map<String, String>, whyNot: String?) -> Unit) {
    private var asked: Deferred<Map<String, String>?>? = null
    private var isOver = false

    val isAsking: Boolean get() = synchronized(this) { asked != null }

    /** Runs [renew] in [scope], unless it runs. */
    fun ask(scope: CoroutineScope, renew: suspend () -> Map<String, String>?) {
        val asks = synchronized(this) {
            when {
                isOver -> null
                asked != null -> return
                else -> scope.async(start = CoroutineStart.LAZY) { renew() }.also { asked = it }
            }
        }
        if (asks == null) return give(emptyMap(), null)
        asks.invokeOnCompletion { error -> answer(asks, error) }
        asks.start()
    }

    /** Under the lock: whoever waits before has this answer, and for whoever waits after it the function runs again. */
    @OptIn(ExperimentalCoroutinesApi::class)
    private fun answer(asks: Deferred<Map<String, String>?>, error: Throwable?): Unit = synchronized(this) {
        asked = null
        if (error == null) give(asks.getCompleted().orEmpty(), null) else give(emptyMap(), error.told())
    }

    /** Cancels the function, and runs it no more. */
    fun close() {
        synchronized(this) { asked.also { isOver = true } }?.cancel()
    }
}

/** What is told of a failure to those who did not cause it. */
internal fun Throwable.told(): String = message ?: javaClass.simpleName
