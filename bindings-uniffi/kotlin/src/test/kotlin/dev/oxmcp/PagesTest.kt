package dev.oxmcp

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Lists page by page. */
internal class PagesTest {
    private fun server() = Server("test", "1.0") { pageSize = 2 }.apply {
        repeat(5) { at ->
            tool("tool $at") { _: Unit -> "" }
            resource("file:///$at", "resource $at") { "" }
            resourceTemplate("note$at://{id}", "template $at") { _, _ -> "" }
            prompt("prompt $at") { _: Unit -> "" }
        }
    }

    private suspend fun <T> pages(page: suspend (String?) -> Page<T>): List<List<T>> {
        val all = ArrayList<List<T>>()
        var cursor: String? = null
        do {
            val next = page(cursor)
            all += next.entries
            cursor = next.nextCursor
        } while (cursor != null)
        return all
    }

    @Test
    fun `pages are what the whole list is made of`() = inEveryEra(::server) { client, _ ->
        val pages = listOf(
            pages { client.listToolsPage(it) }.map { page -> page.map { it.name } } to client.listTools().map { it.name },
            pages { client.listResourcesPage(it) }.map { page -> page.map { it.name } } to client.listResources().map { it.name },
            pages { client.listResourceTemplatesPage(it) }.map { page -> page.map { it.name } } to
                client.listResourceTemplates().map { it.name },
            pages { client.listPromptsPage(it) }.map { page -> page.map { it.name } } to client.listPrompts().map { it.name },
        )
        for ((parts, whole) in pages) {
            assertEquals(listOf(2, 2, 1), parts.map { it.size })
            assertEquals(whole, parts.flatten())
        }
        val error = assertThrows<ResponseException> { client.listToolsPage("nowhere") }
        assertEquals(ErrorCode.INVALID_PARAMS, error.code)
        assertTrue("cursor" in error.message.orEmpty(), error.message)
    }
}
