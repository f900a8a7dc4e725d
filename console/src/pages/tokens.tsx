import type { VNode } from 'preact';
import { useLocation } from 'preact-iso';
import { PageHead } from '../components/page-head.tsx';
import { SessionsView } from './tokens/sessions-view.tsx';
import { TokensView } from './tokens/tokens-view.tsx';
import './tokens/tokens.css';

/** Everything that gives access: tokens and sessions. */
export function Tokens(): VNode {
  const { query } = useLocation();
  const isSessions = query['view'] === 'sessions';
  return (
    <>
      <PageHead title={isSessions ? 'Sessions' : 'Tokens'}>
        <nav class="tabs" aria-label="Credentials">
          <a href="/console/tokens" aria-current={isSessions ? undefined : 'page'}>
            Tokens
          </a>
          <a href="/console/tokens?view=sessions" aria-current={isSessions ? 'page' : undefined}>
            Sessions
          </a>
        </nav>
      </PageHead>
      {isSessions ? <SessionsView /> : <TokensView />}
    </>
  );
}
