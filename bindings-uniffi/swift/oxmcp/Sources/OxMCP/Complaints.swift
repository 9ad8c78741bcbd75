import Foundation

/// Without a hook of the program's, what nobody else sees goes to standard error.
func complain(_ what: String) {
    FileHandle.standardError.write(Data("oxmcp: \(what)\n".utf8))
}
