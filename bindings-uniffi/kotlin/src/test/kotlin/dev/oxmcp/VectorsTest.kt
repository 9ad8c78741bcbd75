package dev.oxmcp

import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.io.TempDir
import java.io.File

/** The shared transcripts, which every language runs. */
internal class VectorsTest {
    @TestFactory
    fun transcripts(): List<DynamicTest> {
        val files = File(root, "tests/vectors").listFiles { file -> file.extension == "jsonl" }.orEmpty().sorted()
        assertTrue(files.isNotEmpty(), "there are no transcripts")
        return files.map { file ->
            DynamicTest.dynamicTest(file.name) {
                for (cut in listOf(Cut.Whole, Cut.Of(1), Cut.Of(7), Cut.Joined)) Runner(file, cut).use { it.run() }
            }
        }
    }

    @Test
    fun `a transcript that does not hold fails`(@TempDir folder: File) {
        val file = File(folder, "wrong.jsonl")
        val begin = "{\"name\":\"n\",\"about\":\"a\",\"role\":\"server\"}\n{\"receive\":{\"id\":1,\"method\":\"ping\"}}\n"
        val wrong = listOf(
            "{\"expect\":{\"id\":1.0,\"result\":{}}}\n",
            "{\"expect\":{\"id\":1,\"result\":{\"a\":1}}}\n",
            "{\"silence\":true}\n",
            "{\"expect\":{\"id\":1,\"result\":{}}}\n{\"closed\":true}\n",
            "{\"expect\":{\"id\":1,\"result\":{}},\"misspelt\":1}\n",
            "{\"misspelt\":true}\n",
            "",
        )
        for (steps in wrong) {
            file.writeText(begin + steps)
            assertThrows(AssertionError::class.java, { Runner(file, Cut.Whole).use { it.run() } }, steps)
        }
    }

    @Test
    fun `numbers are compared as text`() {
        val pairs = listOf("1" to "1.0", "1" to "true", "\"1\"" to "1", "9007199254740993" to "9007199254740992", "{}" to "[]")
        for ((wanted, found) in pairs) assertFalse(matches(parse(wanted), parse(found)), "$wanted is not $found")
        assertTrue(matches(parse("""{"a":1,"b":{"${'$'}contains":"x"}}"""), parse("""{"b":"axb","a":1}""")))
        val text = """{"a\"b":[1.0,-2e+5,"3",null,true,{}],"":"\\"}"""
        assertTrue(parse(text).toString() == text)
    }
}

/** The folder of the whole project. */
internal val root: File get() = File(System.getProperty("oxmcp.root") ?: error("oxmcp.root is not set"))
