/**
 * What a function of the program gets beside its arguments: who calls, and what it may say to the caller meanwhile.
 */

import { isObject, kindOf } from './check-options.js';
import { objectText } from './json.js';
import { usage } from './errors.js';
import type { WebRequest } from './http-types.js';
import type { Incoming } from './incoming.js';
import type { AuthInfo, RequestInfo } from './origin.js';
import { type ResultArguments, type ResultSchema, withSchema } from './result-schema.js';
import type { InferSchema } from './schema.js';
import type { AskOptions, Notification, RequestOptions, Signal } from './options.js';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  Implementation,
  JsonObject,
  JsonObjectInput,
  LoggingLevel,
  Meta,
  Progress,
} from './types.js';

/** A request that a function sends while it works. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params?: JsonObjectInput | undefined;
}

/** The request that a function answers, and its caller. */
export interface McpRequest {
  /** The id that the caller gave the request. */
  readonly id: string | number;
  readonly method: string;
  /** The `_meta` of the request. */
  readonly _meta: Meta | undefined;
  /** The same, where the request says by it who makes it and in which revision (2026-07-28). */
  readonly envelope: Meta | undefined;
  /** The revision of the protocol that the request is in, such as `'2025-11-25'`. */
  readonly protocolVersion: string | undefined;
  /** Aborted when the caller cancels, when the connection ends, and when a question takes a round of its own. */
  readonly signal: Signal;
  /**
   * Sends a notification that belongs to this request: `notifications/progress` and `notifications/message` reach this
   * caller, if it wants them; any other goes out as it is.
   */
  readonly notify: (notification: Notification) => Promise<void>;
  /** Sends a request to the caller, for the sake of this one. See {@link ServerMcpRequest.elicitInput} for its rounds. */
  readonly send: <Result = Record<string, unknown>>(request: OutgoingRequest, options?: AskOptions) => Promise<Result>;
}

/** The same for a server's functions. */
export interface ServerMcpRequest extends McpRequest {
  /** Who the caller says it is. */
  readonly clientInfo: Implementation | undefined;
  /** What the caller can do. */
  readonly clientCapabilities: JsonObject | undefined;
  /** Reports progress, if the caller asked for it. Each report must be greater than the one before; others are left out. */
  readonly progress: (progress: Progress) => void;
  /** Sends a log message, if it is severe enough for the caller. */
  readonly log: (level: LoggingLevel, data: unknown, logger?: string) => Promise<void>;
  /**
   * Asks the caller's user.
   *
   * One call for both eras. In revisions with a handshake a request goes out and its answer comes. In 2026-07-28 there
   * are no such requests: what is asked for becomes the answer to this call, `signal` is aborted, the promise rejects, and
   * the client makes the call again with the answers. Then the function runs again from its start, and each question that
   * it asks in the same order is answered at once. So what comes before a question must do no harm when it is done twice,
   * and the rejection should be let through.
   *
   * @throws {@link CapabilityError} when the caller cannot be asked
   */
  readonly elicitInput: (params: ElicitRequestParams, options?: AskOptions) => Promise<ElicitResult>;
  /** Asks the caller's model; see {@link elicitInput}. */
  readonly requestSampling: (params: CreateMessageRequestParams, options?: AskOptions) => Promise<CreateMessageResult>;
  /** The answers to what a function that makes its rounds itself asked for: by the keys of its `inputRequests`. */
  readonly inputResponses: JsonObject | undefined;
  /** What such a function kept as its `requestState` in the round before. */
  readonly requestState: () => string | undefined;
}

/**
 * The same request by the names of the official SDK's first version, for programs that come from it. What a function
 * gets has both.
 */
export interface RequestHandlerExtra {
  /** {@link McpRequest.signal}. */
  readonly signal: Signal;
  /** {@link McpRequest.id}. */
  readonly requestId: string | number;
  /** {@link McpRequest._meta}. */
  readonly _meta: Meta | undefined;
  /** {@link HttpCall.closeSSE}. */
  readonly closeSSEStream: (() => void) | undefined;
  /** {@link HttpCall.closeStandaloneSSE}. */
  readonly closeStandaloneSSEStream: (() => void) | undefined;
  /** Names the session of the caller, where its transport has sessions. */
  readonly sessionId: string | undefined;
  /** {@link HttpCall.authInfo}. */
  readonly authInfo: AuthInfo | undefined;
  /** The request over HTTP that brought the call. Look at it before the answer. */
  readonly requestInfo: RequestInfo | undefined;
  /** {@link McpRequest.notify}. */
  readonly sendNotification: (notification: Notification) => Promise<void>;
  /** {@link McpRequest.send}; the schema, of any library, checks the result. */
  readonly sendRequest: SendRequest;
}

/** Sends a request; with a schema of the result it checks that, and gives what the schema makes of it. */
export interface SendRequest {
  <Result = Record<string, unknown>>(request: OutgoingRequest, options?: RequestOptions): Promise<Result>;
  <Schema extends ResultSchema>(request: OutgoingRequest, schema: Schema, options?: RequestOptions): Promise<InferSchema<Schema>>;
}

/** What a function of a client gets. */
export interface ClientContext extends RequestHandlerExtra {
  readonly mcpReq: McpRequest;
}

/** What a call over HTTP has beside the others. */
export interface HttpCall {
  /**
   * Who calls, as the program has found out before it handed the request over: the `auth` of a request of Node's `http`,
   * or what was given beside a request of `fetch`. Nothing of it is checked here.
   */
  readonly authInfo: AuthInfo | undefined;
  /** The request that brought the call, without its body. Look at it before the answer. */
  readonly req: WebRequest | undefined;
  /**
   * Ends the response to the call before its answer, where the client can come back for the rest (2025-11-25): so that a
   * call that takes long holds no connection.
   */
  readonly closeSSE: () => void;
  /** A stream that answers no request cannot be ended by a function here. */
  readonly closeStandaloneSSE: (() => void) | undefined;
}

/** What a function of a server gets. */
export interface ServerContext extends RequestHandlerExtra {
  /** Of a call over HTTP; `undefined` for others. */
  readonly http: HttpCall | undefined;
  readonly mcpReq: ServerMcpRequest;
}

/** Functions may be taken out of the object, so each is bound to it; it is made for those alone that look. */
class RequestView implements ServerMcpRequest {
  readonly #call: Incoming;
  readonly method: string;
  readonly #asks: boolean;

  constructor(call: Incoming, method: string, asks: boolean) {
    this.#call = call;
    this.method = method;
    this.#asks = asks;
  }

  get id(): string | number {
    return this.#call.caller.id ?? this.#call.id;
  }

  get signal(): Signal {
    return this.#call.signal;
  }

  get _meta(): Meta | undefined {
    return this.#call.caller.meta;
  }

  get envelope(): Meta | undefined {
    const meta = this._meta;
    return meta !== undefined && 'io.modelcontextprotocol/protocolVersion' in meta ? meta : undefined;
  }

  get protocolVersion(): string | undefined {
    return this.#call.caller.protocolVersion;
  }

  get clientInfo(): Implementation | undefined {
    return this.#call.caller.info;
  }

  get clientCapabilities(): JsonObject | undefined {
    return this.#call.caller.capabilities;
  }

  get inputResponses(): JsonObject | undefined {
    return this.#call.caller.inputResponses;
  }

  readonly requestState = (): string | undefined => this.#call.caller.state;

  readonly progress = (progress: Progress): void => this.#call.connection.progress(this.#call, checkedProgress(progress));

  readonly notify = (notification: Notification): Promise<void> => handled(this.#notify(notification));

  readonly log = (level: LoggingLevel, data: unknown, logger?: string): Promise<void> =>
    handled(this.#log(level, data, logger));

  readonly send = <Result>(request: OutgoingRequest, options?: AskOptions): Promise<Result> =>
    handled(this.#send<Result>(request, options));

  async #notify({ method, params }: Notification): Promise<void> {
    if (method === 'notifications/progress') {
      this.progress((params ?? {}) as unknown as Progress);
    } else if (method === 'notifications/message') {
      const { level, data, logger } = (params ?? {}) as { level: LoggingLevel; data: unknown; logger?: string };
      await this.log(level, data, logger);
    } else {
      this.#call.connection.notify(method, objectText(params, 'params'));
    }
  }

  async #log(level: LoggingLevel, data: unknown, logger?: string): Promise<void> {
    if (!this.#call.isCancelled) this.#call.connection.log({ level, data, logger }, this.#call);
  }

  async #send<Result>({ method, params }: OutgoingRequest, options?: AskOptions): Promise<Result> {
    const { connection } = this.#call;
    const text = objectText(params, 'params');
    const answer = this.#asks
      ? connection.ask(this.#call, method, text, options)
      : connection.request(method, text, options);
    return (await answer) as Result;
  }

  readonly elicitInput = (params: ElicitRequestParams, options?: AskOptions): Promise<ElicitResult> =>
    this.send({ method: 'elicitation/create', params }, options);

  readonly requestSampling = (params: CreateMessageRequestParams, options?: AskOptions): Promise<CreateMessageResult> =>
    this.send({ method: 'sampling/createMessage', params }, options);
}

/** The context of one call, for a client's functions and a server's alike. Internal. */
export class CallContext implements ServerContext {
  readonly #call: Incoming;
  readonly #method: string;
  readonly #asks: boolean;
  #view: RequestView | undefined;
  #http: HttpCall | undefined;

  /** `asks`: what it sends belongs to the call, as in servers. */
  constructor(call: Incoming, method: string, asks: boolean) {
    this.#call = call;
    this.#method = method;
    this.#asks = asks;
  }

  get mcpReq(): ServerMcpRequest {
    return (this.#view ??= new RequestView(this.#call, this.#method, this.#asks));
  }

  get http(): HttpCall | undefined {
    const call = this.#call;
    const { connection } = call;
    if (!connection.isElsewhere && call.origin === undefined) return undefined;
    return (this.#http ??= {
      closeSSE: () => connection.endStream(call),
      closeStandaloneSSE: undefined,
      get authInfo() {
        return call.origin?.authInfo;
      },
      get req() {
        return call.origin?.request;
      },
    });
  }

  get authInfo(): AuthInfo | undefined {
    return this.#call.origin?.authInfo;
  }

  get requestInfo(): RequestInfo | undefined {
    return this.#call.origin?.requestInfo;
  }

  get closeSSEStream(): (() => void) | undefined {
    return this.http?.closeSSE;
  }

  get closeStandaloneSSEStream(): undefined {
    return undefined;
  }

  get signal(): Signal {
    return this.#call.signal;
  }

  get requestId(): string | number {
    return this.mcpReq.id;
  }

  get _meta(): Meta | undefined {
    return this.mcpReq._meta;
  }

  get sessionId(): string | undefined {
    return this.#call.connection.sessionId;
  }

  get sendNotification(): (notification: Notification) => Promise<void> {
    return this.mcpReq.notify;
  }

  get sendRequest(): SendRequest {
    const { send } = this.mcpReq;
    return (request: OutgoingRequest, ...rest: ResultArguments): Promise<never> => handled(withSchema(rest, (options) => send(request, options)));
  }
}

/**
 * A call that ends takes what its function asked for with it, also where nobody waits for that any more. Such a
 * rejection must not end the process, as one that nobody handles does.
 */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** @throws {@link UsageError} that says what is wrong with a report of progress */
function checkedProgress(given: Progress): Progress {
  if (!isObject(given)) throw usage(`progress needs an object, such as { progress: 1, total: 3 }; it is ${kindOf(given)}`);
  const { progress, total, message } = given;
  if (typeof progress !== 'number') throw usage(`progress needs a number "progress", such as { progress: 1, total: 3 }; it is ${kindOf(progress)}`);
  if (total !== undefined && total !== null && typeof total !== 'number') throw usage(`the "total" of progress must be a number; it is ${kindOf(total)}`);
  if (message !== undefined && message !== null && typeof message !== 'string') {
    throw usage(`the "message" of progress must be a string; it is ${kindOf(message)}`);
  }
  return given;
}
