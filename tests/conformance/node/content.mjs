// Tools, resources and prompts that only give something.

import { ResourceTemplate, completable } from 'oxmcp';

/** A picture of one pixel, and a sound without samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const text = (said) => ({ type: 'text', text: said });
const picture = { type: 'image', data: PNG, mimeType: 'image/png' };
const textAt = (uri, mimeType, said) => ({ type: 'resource', resource: { uri, mimeType, text: said } });
const user = (content) => ({ role: 'user', content });

export const simpleText = () => 'This is a simple text response for testing.';
export const simplePrompt = () => ({ messages: [user(text('This is a simple prompt for testing.'))] });

function addTools(server) {
  const tool = (name, description, callback) => server.registerTool(name, { description }, callback);
  tool('test_simple_text', 'Gives text.', simpleText);
  tool('test_image_content', 'Gives a picture.', () => ({ content: [picture] }));
  tool('test_audio_content', 'Gives sound.', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }));
  tool('test_embedded_resource', 'Gives a resource.', () => ({
    content: [textAt('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }));
  tool('test_multiple_content_types', 'Gives several things.', () => {
    const mixed = textAt('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}');
    return { content: [text('Multiple content types test:'), picture, mixed] };
  });
  tool('test_error_handling', 'Fails.', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
}

function addResources(server) {
  const plain = (name, uri, description, said) => {
    const read = () => ({ contents: [{ uri, mimeType: 'text/plain', text: said }] });
    server.registerResource(name, uri, { description, mimeType: 'text/plain' }, read);
  };
  plain('static-text', 'test://static-text', 'Text that never changes.', 'This is the content of the static text resource.');
  plain('watched-resource', 'test://watched-resource', 'Can be subscribed to.', 'Watched resource content.');
  const binary = { description: 'A picture.', mimeType: 'image/png' };
  server.registerResource('static-binary', 'test://static-binary', binary, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const described = { description: 'Data by its id.', mimeType: 'application/json' };
  server.registerResource('template', template, described, ({ href: uri }, { id }) => {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text: data }] };
  });
}

function addPrompts(server) {
  const words = (value) => ['hello', 'help', 'test'].filter((word) => word.startsWith(value));
  const required = (description) => ({ type: 'string', description });
  server.registerPrompt('test_simple_prompt', { description: 'Has no arguments.' }, simplePrompt);
  const two = {
    type: 'object',
    properties: { arg1: completable(required('The first argument.'), words), arg2: required('The second argument.') },
    required: ['arg1', 'arg2'],
  };
  server.registerPrompt('test_prompt_with_arguments', { description: 'Has two arguments.', argsSchema: two }, ({ arg1, arg2 }) => ({
    messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  }));
  const embedded = { type: 'object', properties: { resourceUri: required('What to embed.') }, required: ['resourceUri'] };
  const embeds = { description: 'Embeds a resource.', argsSchema: embedded };
  server.registerPrompt('test_prompt_with_embedded_resource', embeds, ({ resourceUri }) => ({
    messages: [
      user(textAt(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
      user(text('Please process the embedded resource above.')),
    ],
  }));
  server.registerPrompt('test_prompt_with_image', { description: 'Has a picture.' }, () => ({
    messages: [user(picture), user(text('Please analyze the image above.'))],
  }));
}

/** The first tool of the list can be called without arguments. */
export function add(server) {
  addTools(server);
  addResources(server);
  addPrompts(server);
}
