import type { VNode } from 'preact';
import { apiPath } from '../api.ts';
import type { CallFile, ContentBlockView, OutcomeView } from '../api-types.ts';
import { Badge, OutcomeBadge } from '../components/badge.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Inert } from '../components/inert.tsx';
import { showBytes } from '../show-time.ts';
import { repeats, type Reason } from './say-once.ts';

interface OutcomeProps {
  readonly callId: string;
  readonly outcome: OutcomeView;
  /** Sentences that the page already shows; they are not repeated. */
  readonly shown: readonly string[];
}

/** The outcome of a call. All text in it was written by a tool or by a system that the tool talked to. */
export function Outcome({ callId, outcome, shown }: OutcomeProps): VNode {
  const content = outcome.content.filter((block) => block.kind !== 'text' || !repeats(block.text, shown));
  const structured = outcome.structured === undefined ? undefined : JSON.stringify(outcome.structured, undefined, 2);
  return (
    <>
      <p class="badges">
        <OutcomeBadge outcome={outcome.kind} />
        <Badge tone={outcome.executed === 'unknown' ? 'warning' : 'neutral'}>executed: {outcome.executed}</Badge>
        {outcome.retryable ? <Badge tone="info">may be tried again</Badge> : null}
      </p>
      {content.map((block, index) => (
        <Block key={index} callId={callId} block={block} />
      ))}
      {structured === undefined ? null : <CopiedBlock label="Structured output" text={structured} what="result" />}
    </>
  );
}

/** Why the call did not end well. The page shows this in one place only. */
export function ReasonBlock({ reason: { message, fix, code } }: { readonly reason: Reason }): VNode {
  return (
    <div class="call-error card" role="note" aria-label="Why it ended like this">
      <p class="prose">
        <Inert text={message} multiline />
      </p>
      {fix === undefined ? null : (
        <p class="hint">
          <Inert text={fix} multiline />
        </p>
      )}
      {code === undefined ? null : (
        <p class="hint mono">
          <Inert text={code} />
        </p>
      )}
    </div>
  );
}

/** Untrusted text with a button that copies all of it. */
export function CopiedBlock({ label, text, what }: { label: string; text: string; what: string }): VNode {
  return (
    <div class="copied-block">
      <CopyButton text={text} what={what} />
      <CodeBlock label={label} text={text} />
    </div>
  );
}

function Block({ callId, block }: { readonly callId: string; readonly block: ContentBlockView }): VNode {
  switch (block.kind) {
    case 'text':
      return <CopiedBlock label="Text" text={block.text} what="text" />;
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

/** A resource. Its URI is shown as text, not as a link, because a tool must not decide which page a person opens. */
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

/** A link that saves the file and never shows it: no file of a tool is opened in the console's own origin. */
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
