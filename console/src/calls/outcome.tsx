import type { VNode } from 'preact';
import { apiPath } from '../api.ts';
import type { CallFile, ContentBlockView, OutcomeView } from '../api-types.ts';
import { Badge, OutcomeBadge } from '../components/badge.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import { Inert } from '../components/inert.tsx';
import { showBytes } from '../show-time.ts';

/** What came out. Everything in it was written by a tool or by whoever the tool talked to. */
export function Outcome({ callId, outcome }: { readonly callId: string; readonly outcome: OutcomeView }): VNode {
  const { error } = outcome;
  return (
    <>
      <p class="badges">
        <OutcomeBadge outcome={outcome.kind} />
        <Badge tone={outcome.executed === 'unknown' ? 'warning' : 'neutral'}>executed: {outcome.executed}</Badge>
        {outcome.retryable ? <Badge tone="info">may be tried again</Badge> : null}
      </p>
      {error === undefined ? null : (
        <div class="call-error">
          <p class="prose">
            <Inert text={error.message} multiline />
          </p>
          {error.fix === undefined ? null : (
            <p class="hint">
              <Inert text={error.fix} multiline />
            </p>
          )}
          <p class="hint mono">
            <Inert text={error.code} />
          </p>
        </div>
      )}
      {outcome.content.map((block, index) => (
        <Block key={index} callId={callId} block={block} />
      ))}
      {outcome.structured === undefined ? null : (
        <CodeBlock label="Structured output" text={JSON.stringify(outcome.structured, undefined, 2)} />
      )}
    </>
  );
}

function Block({ callId, block }: { readonly callId: string; readonly block: ContentBlockView }): VNode {
  switch (block.kind) {
    case 'text':
      return <CodeBlock label="Text" text={block.text} />;
    case 'structured':
      return <CodeBlock label="Structured" text={JSON.stringify(block.value, undefined, 2) ?? ''} />;
    case 'resource':
      return <Resource callId={callId} block={block} />;
    case 'image':
    case 'audio':
    case 'file':
      return (
        <p>
          <FileLink callId={callId} file={block} />
        </p>
      );
  }
}

interface ResourceProps {
  readonly callId: string;
  readonly block: ContentBlockView & { readonly kind: 'resource' };
}

/** Where it is said to be is text, no link: a tool must not choose where a person goes. */
function Resource({ callId, block: { uri, mediaType = '', text, index, bytes } }: ResourceProps): VNode {
  return (
    <>
      <p class="mono">
        <Inert text={uri} />
      </p>
      {text === undefined ? null : <CodeBlock label="Text of the resource" text={text} />}
      {index === undefined ? null : (
        <p>
          <FileLink callId={callId} file={{ index, mediaType, bytes: bytes ?? 0 }} />
        </p>
      )}
    </>
  );
}

/** Bytes are saved, never shown: nothing of a tool is opened in the console's own origin. */
export function FileLink({ callId, file }: { readonly callId: string; readonly file: CallFile }): VNode {
  return (
    <a href={apiPath`/v1/calls/${callId}/files/${file.index}`} download>
      <Inert text={file.name ?? `file ${file.index}`} />{' '}
      <span class="hint">
        <Inert text={file.mediaType} />, {showBytes(file.bytes)}
      </span>
    </a>
  );
}
