// What is tried with every client and every server, for any client of the usual interface.

import assert from 'node:assert/strict';

/** What a client of `exerciseSurface` declares. */
export const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };

/** Tools: list, call, progress, failure, cancel. `said` waits until the server has said something. */
export async function exercise(client, callTool, said) {
  assert.equal(client.getServerVersion().name, 'interop');
  assert.equal(client.getInstructions(), 'For tests.');
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['add', 'count', 'wait', 'fail'],
  );
  const sum = await callTool({ name: 'add', arguments: { a: 2, b: 3 } });
  assert.equal(sum.content[0].text, '5');

  const progress = [];
  const counted = await callTool(
    { name: 'count', arguments: { to: 3 } },
    { onprogress: (report) => progress.push([report.progress, report.total, report.message]) },
  );
  assert.equal(counted.content[0].text, 'counted');
  assert.deepEqual(
    progress,
    [1, 2, 3].map((step) => [step, 3, `step ${step}`]),
  );

  const failed = await callTool({ name: 'fail', arguments: {} });
  assert.equal(failed.isError, true);
  assert.match(failed.content[0].text, /on purpose/);

  const controller = new AbortController();
  const call = callTool({ name: 'wait', arguments: {} }, { signal: controller.signal });
  const rejected = assert.rejects(call);
  await said('waiting');
  controller.abort(new Error('enough'));
  await rejected;
  await said('cancelled');

  const again = await callTool({ name: 'add', arguments: { a: 1, b: 1 } });
  assert.equal(again.content[0].text, '2');
}

/** What is beside tools. `naming` makes of a method what the client's `setRequestHandler` wants. */
export async function exerciseSurface(client, transport, naming = (method) => method) {
  const forms = [];
  client.setRequestHandler(naming('elicitation/create'), async ({ params }) => {
    forms.push(Object.keys(params.requestedSchema.properties));
    return { action: 'accept', content: { name: 'Ada' } };
  });
  client.setRequestHandler(naming('sampling/createMessage'), async ({ params }) => {
    const [{ content }] = params.messages;
    const text = `thought of ${(Array.isArray(content) ? content[0] : content).text}`;
    return { role: 'assistant', model: 'm', content: { type: 'text', text } };
  });
  client.setRequestHandler(naming('roots/list'), async () => ({ roots: [{ uri: 'file:///work' }] }));
  await client.connect(transport);
  try {
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(({ uri }) => uri), ['config://app', 'bytes://all']);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ['note://{id}']);
    const read = async (uri) => (await client.readResource({ uri })).contents[0];
    assert.equal((await read('config://app')).text, 'on');
    assert.deepEqual([...Buffer.from((await read('bytes://all')).blob, 'base64')], Array.from({ length: 256 }, (_, index) => index));
    assert.equal((await read('note://00123')).text, 'note 00123');
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts[0].arguments.map(({ name, required }) => [name, required === true]), [['name', true], ['tone', false]]);
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
    assert.deepEqual(messages.map(({ content }) => content.text), ['Greet Ada in a warm way.', 'Hello.']);
    const argument = { name: 'name', value: 'A' };
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument });
    assert.deepEqual(completion.values, ['Ada', 'Alan']);
    const text = async (name) => (await client.callTool({ name, arguments: {} })).content[0].text;
    assert.match(await text('ask'), /^accept Ada\b/);
    assert.deepEqual(forms, [['name', 'age']]);
    assert.equal(await text('think'), 'thought of Think.');
    assert.equal(await text('folders'), 'file:///work');
  } finally {
    await client.close();
  }
}

/** Gives a function that waits until a stream has said something. */
export function heard(stream) {
  let text = '';
  let wake = () => {};
  stream.on('data', (chunk) => {
    text += new TextDecoder().decode(chunk);
    wake();
  });
  return async (what) => {
    while (!text.includes(what)) await new Promise((resolve) => (wake = resolve));
  };
}
