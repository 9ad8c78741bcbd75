/**
 * The protocol's constants, by the names of the official SDK.
 */

/** The newest revision that begins with a handshake. */
export const LATEST_PROTOCOL_VERSION = '2025-11-25';

/** What a client of Streamable HTTP is taken to speak that does not say. */
export const DEFAULT_NEGOTIATED_PROTOCOL_VERSION = '2025-03-26';

/** All revisions that this package speaks, newest first. */
export const SUPPORTED_PROTOCOL_VERSIONS: readonly string[] = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

export const JSONRPC_VERSION = '2.0';

/** Where a request says which task it belongs to. */
export const RELATED_TASK_META_KEY = 'io.modelcontextprotocol/related-task';

/** How long a call may go without an answer, in milliseconds, where nothing else is said. */
export const DEFAULT_REQUEST_TIMEOUT_MSEC = 60_000;

/** Members of the `_meta` of requests and results (2026-07-28). */
export const PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo';
export const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel';
export const SUBSCRIPTION_ID_META_KEY = 'io.modelcontextprotocol/subscriptionId';

/** Members of the `_meta` of requests by which traces are followed, as W3C names them. */
export const TRACEPARENT_META_KEY = 'traceparent';
export const TRACESTATE_META_KEY = 'tracestate';
export const BAGGAGE_META_KEY = 'baggage';

/** Codes of JSON-RPC 2.0. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
