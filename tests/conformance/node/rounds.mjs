// Tools that need input before they can be served, in rounds (2026-07-28).

import { McpError } from 'oxmcp';

/** `MissingRequiredClientCapability`. */
const MISSING_CAPABILITY = -32021;

/** The params of a question with one field. */
const question = (message, field, type) => ({
  message,
  requestedSchema: { type: 'object', properties: { [field]: { type } }, required: [field] },
});

const saying = (maxTokens, text) => ({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

/** Asks the person for one value, under this key. */
async function ask(ctx, key, field) {
  const { content } = await ctx.mcpReq.elicitInput(question('Please fill this in.', field, 'string'), { key });
  return content[field];
}

/** What a function gives that makes its rounds itself. */
const required = (inputRequests, requestState) => ({ resultType: 'input_required', inputRequests, requestState });

const elicitation = async (ctx) => `Hello, ${await ask(ctx, 'user_name', 'name')}!`;

async function sampling(ctx) {
  const { content } = await ctx.mcpReq.requestSampling(saying(100, 'What is the capital of France?'));
  return content.text;
}

async function listRoots(ctx) {
  const { roots } = await ctx.mcpReq.send({ method: 'roots/list' });
  return `${roots.length} roots`;
}

/** Keeps something for the next round. */
function withState(ctx) {
  const state = ctx.mcpReq.requestState();
  if (state !== undefined && ctx.mcpReq.inputResponses?.confirm !== undefined) return `state-ok: ${state}`;
  return required({ confirm: { method: 'elicitation/create', params: question('Go on?', 'ok', 'boolean') } }, 'asked');
}

function multiple(ctx) {
  const requests = {
    user_name: { method: 'elicitation/create', params: question('Who are you?', 'name', 'string') },
    greeting: { method: 'sampling/createMessage', params: saying(50, 'Write a greeting.') },
    client_roots: { method: 'roots/list', params: {} },
  };
  const answers = ctx.mcpReq.inputResponses ?? {};
  if (Object.keys(requests).every((key) => key in answers)) return 'all inputs came';
  return required(requests, 'three at once');
}

async function multiRound(ctx) {
  const name = await ask(ctx, 'step1', 'name');
  const color = await ask(ctx, 'step2', 'color');
  return `${name} likes ${color}`;
}

function byCapabilities(ctx) {
  const { clientCapabilities = {}, inputResponses: answers = {} } = ctx.mcpReq;
  const requests = {};
  if (clientCapabilities.sampling && !answers.capital) {
    requests.capital = { method: 'sampling/createMessage', params: saying(50, 'Write a greeting.') };
  }
  if (clientCapabilities.elicitation && !answers.user_name) {
    requests.user_name = { method: 'elicitation/create', params: question('Who are you?', 'name', 'string') };
  }
  return Object.keys(requests).length > 0 ? required(requests) : 'nothing is open';
}

function needsSampling(ctx) {
  if (ctx.mcpReq.clientCapabilities?.sampling) return 'The client can sample.';
  const needed = { requiredCapabilities: { sampling: {} } };
  throw new McpError(MISSING_CAPABILITY, 'this tool needs a client that can sample', needed);
}

async function prompt(ctx) {
  const context = await ask(ctx, 'user_context', 'context');
  return { messages: [{ role: 'user', content: { type: 'text', text: `Mind this: ${context}` } }] };
}

export function add(server) {
  const tools = {
    test_missing_capability: ['Needs a client that can sample.', needsSampling],
    test_streaming_elicitation: ['Asks the person.', elicitation],
    test_input_required_result_elicitation: ['Asks for a name.', elicitation],
    test_input_required_result_sampling: ['Asks the model.', sampling],
    test_input_required_result_list_roots: ['Asks for the roots.', listRoots],
    test_input_required_result_request_state: ['Keeps a state.', withState],
    test_input_required_result_multiple_inputs: ['Asks for three things.', multiple],
    test_input_required_result_multi_round: ['Asks twice.', multiRound],
    test_input_required_result_tampered_state: ['Keeps a state.', withState],
    test_input_required_result_capabilities: ['Asks for what the client can do.', byCapabilities],
  };
  for (const [name, [description, callback]] of Object.entries(tools)) server.registerTool(name, { description }, callback);
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for context.' }, prompt);
}
