// The client that the public conformance suite runs: it does what the scenario in `MCP_CONFORMANCE_SCENARIO` wants of a
// client. `node client.mjs URL`.

import { Client, StreamableHTTPClientTransport, version } from 'oxmcp';

/** A person who leaves the form as it is shown, with its defaults, and says yes to all else. */
function person({ params }) {
  const content = {};
  for (const [name, field] of Object.entries(params.requestedSchema?.properties ?? {})) {
    if (field.default !== undefined) content[name] = field.default;
    else if (field.type === 'boolean') content[name] = true;
  }
  return { action: 'accept', content };
}

const model = () => ({ role: 'assistant', model: 'model-1', content: { type: 'text', text: 'Nothing comes to mind.' } });

/** Calls the tools of the list, those with parameters in header fields as well. */
async function callEach(client, args) {
  for (const { name } of (await client.listTools()).tools) await client.callTool({ name, arguments: args });
}

async function useAll(client) {
  await callEach(client, {});
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}

/** Makes the calls that the scenario names. */
async function callNamed(client) {
  const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT);
  await client.listTools();
  for (const call of toolCalls) await client.callTool({ name: call.name, arguments: call.arguments });
}

/** Calls tools that ask for input, and another one while an answer is being found. */
async function takeRounds(client) {
  await client.listTools();
  await Promise.all(['test_mrtr_echo_state', 'test_mrtr_unrelated'].map((name) => client.callTool({ name })));
  await client.callTool({ name: 'test_mrtr_no_state' });
  await client.callTool({ name: 'test_mrtr_no_result_type' });
}

/** Sends a schema back as it came. */
async function echoSchema(client) {
  const { tools } = await client.listTools();
  const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
  await client.callTool({ name: 'json_schema_echo', arguments: { schema: inputSchema } });
}

const SCENARIOS = {
  // Their servers offer nothing.
  initialize: () => {},
  'request-metadata': () => {},
  'json-schema-ref-no-deref': (client) => client.listTools(),
  tools_call: (client) => callEach(client, { a: 2, b: 3 }),
  'elicitation-sep1034-client-defaults': (client) => callEach(client, {}),
  'sse-retry': (client) => callEach(client, {}),
  'http-invalid-tool-headers': (client) => callEach(client, { region: 'us-west1' }),
  'http-standard-headers': useAll,
  'http-custom-headers': callNamed,
  'sep-2322-client-request-state': takeRounds,
  'json-schema-2020-12-preservation': echoSchema,
};

const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const run = SCENARIOS[scenario];
if (run === undefined) throw new Error(`the scenario "${scenario}" is not known here`);
const client = new Client(
  { name: 'oxmcp conformance client', version },
  { capabilities: { elicitation: {}, sampling: {}, roots: {} }, onproblem: ({ message }) => console.error(`problem: ${message}`) },
);
client.setRequestHandler('elicitation/create', person);
client.setRequestHandler('sampling/createMessage', model);
client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }));
await client.connect(new StreamableHTTPClientTransport(process.argv.at(-1)));
await run(client);
await client.close();
