import { connect } from 'sallyport/client';

const client = await connect({ store: 'embedded' });
const session = await client.openSession({ subject: 'ada', agent: 'assistant' });

// #region answering
const asked = await client.call(session, 'trips.book', { to: 'Lyon' });
if (asked.kind === 'settled' && asked.input !== undefined) {
  console.log(asked.input.requests); // { comfort: { kind: 'elicit', message: 'Which class to Lyon?', schema: … } }
  const responses = { comfort: { action: 'accept', content: { class: 'second' } } };
  const booked = await client.call(session, 'trips.book', { to: 'Lyon' }, { input: { responses, of: asked.callId } });
  console.log(booked.kind === 'settled' ? booked.outcome.content : booked.kind);
}
// #endregion

// #region surfaces
const resources = await client.resources(session);
console.log(resources.map((resource) => ('uri' in resource ? resource.uri : resource.uriTemplate)));
const page = await client.readResource(session, 'handbook://pages/travel');
if (page.kind === 'read') console.log(page.contents);

const prompts = await client.prompts(session);
console.log(prompts.map(({ module, name }) => `${module}.${name}`));
const explained = await client.getPrompt(session, 'explain', { page: 'travel' });
if (explained.kind === 'rendered') console.log(explained.messages);

const of = { uriTemplate: 'handbook://pages/{page}' };
console.log(await client.complete(session, { of, argument: 'page', value: 'tr' }));
// #endregion

await client.close();
