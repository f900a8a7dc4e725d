// The one place where the agent's tools are run: a call to the plane, and what the model is told of it.
import { pendingText } from 'sallyport/client';

export function createRunner(client, session, say) {
  /** `key` is the model's own id of the call: a loop that starts again after a crash gets the same answers, and runs nothing twice. */
  return async function run(tool, args, key) {
    say('agent', `${tool} ${JSON.stringify(args)}`);
    const told = textOf(await client.call(session, tool, args, { key }));
    for (const line of told.split('\n')) say('tool', line);
    return told;
  };
}

function textOf(answer) {
  if (answer.kind === 'pending') return pendingText(answer);
  const { kind, structured, content, error } = answer.outcome;
  if (kind !== 'ok') return `${kind}: ${error?.message}`;
  // Both: advice about a loop is a text beside what the tool returned.
  const texts = content.filter((block) => block.kind === 'text').map(({ text }) => text);
  return [...(structured === undefined ? [] : [JSON.stringify(structured)]), ...texts].join('\n');
}
