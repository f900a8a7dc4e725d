import type { VNode } from 'preact';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Inert } from '../../components/inert.tsx';
import { layOutJson } from '../../lay-out-json.ts';
import { isoTime, showTime } from '../../show-time.ts';
import { groupFacts, type Fact, type ShownRecord } from './record-facts.ts';

export function RecordDetail({
  record,
  onClose,
}: {
  readonly record: ShownRecord;
  readonly onClose: () => void;
}): VNode {
  return (
    <Dialog title={<Inert text={record.event} />} onClose={onClose} wide>
      <p class="hint">
        <time dateTime={isoTime(record.at)}>{showTime(record.at)}</time>
        {`, ${isoTime(record.at)}`}
      </p>
      <Payload record={record} />
      {groupFacts(record).map(({ title, facts }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl class="record-facts">
            {facts.map((fact) => (
              <div key={fact.name}>
                <dt>{fact.name}</dt>
                <dd>
                  <Value fact={fact} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}

function Value({ fact: { value, href } }: { readonly fact: Fact }): VNode {
  const text = <Inert text={value} />;
  return href === undefined ? text : <a href={href}>{text}</a>;
}

/** The payload of a record: text of tools and people. Only the payload can be erased, and only it contains text that other people chose. */
function Payload({ record }: { readonly record: ShownRecord }): VNode {
  const { erased, arguments: args, detail, comment } = record;
  if (erased) {
    return (
      <p class="erased">
        Its arguments and words were erased on purpose. The record itself and its place in the chain are whole.
      </p>
    );
  }
  if (args === undefined && detail === undefined && comment === undefined)
    return <p class="hint">It has no payload.</p>;
  return (
    <>
      {args === undefined ? null : (
        <section>
          <h3>Arguments, secrets masked</h3>
          <CodeBlock label="Arguments" text={layOutJson(args)} />
        </section>
      )}
      {detail === undefined ? null : (
        <section>
          <h3>Detail</h3>
          <CodeBlock label="Detail" text={detail} />
        </section>
      )}
      {comment === undefined ? null : (
        <section>
          <h3>Comment</h3>
          <CodeBlock label="Comment" text={comment} />
        </section>
      )}
    </>
  );
}
