import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorBoundary, lazy, LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { askWho, who } from './api.ts';
import { Empty, Failure, Loading } from './components/states.tsx';
import { Toasts } from './components/toast.tsx';
import { Frame } from './frame.tsx';
import { Login } from './pages/login.tsx';

// Each page is a file of its own that is loaded when the page is first opened.
const Overview = lazy(() => import('./pages/overview.tsx').then((page) => page.Overview));
const Approvals = lazy(() => import('./pages/approvals.tsx').then((page) => page.Approvals));
const Calls = lazy(() => import('./pages/calls.tsx').then((page) => page.Calls));
const Call = lazy(() => import('./pages/call.tsx').then((page) => page.Call));
const Access = lazy(() => import('./pages/access.tsx').then((page) => page.Access));
const Fleet = lazy(() => import('./pages/fleet.tsx').then((page) => page.Fleet));
const Grants = lazy(() => import('./pages/grants.tsx').then((page) => page.Grants));
const Tokens = lazy(() => import('./pages/tokens.tsx').then((page) => page.Tokens));
const Audit = lazy(() => import('./pages/audit.tsx').then((page) => page.Audit));

const NotFound = (): VNode => (
  <Empty title="There is no such page.">
    <a href="/console/overview">Overview</a>
  </Empty>
);

function Home(): null {
  const { route } = useLocation();
  useEffect(() => route('/console/overview', true), []);
  return null;
}

const isLoginPath = (): boolean => /^(\/console)?\/login\/?$/.test(location.pathname);

export function App(): VNode {
  const [error, setError] = useState<unknown>();
  const [isAtLogin, setAtLogin] = useState(isLoginPath);
  const ask = (): void => {
    setError(undefined);
    askWho().catch(setError);
  };
  useEffect(() => {
    if (!isAtLogin) ask();
  }, []);
  const onDone = (): void => {
    if (isLoginPath()) history.replaceState(null, '', '/console/overview');
    setAtLogin(false);
  };

  if (isAtLogin || who.value === 'nobody') return <Login onDone={onDone} />;
  if (error !== undefined && who.value === 'unknown') return <Failure error={error} onRetry={ask} />;
  if (who.value === 'unknown') return <Loading />;
  return (
    <LocationProvider scope="/console">
      <Frame me={who.value}>
        <Pages />
      </Frame>
      <Toasts />
    </LocationProvider>
  );
}

function Pages(): VNode {
  const [failed, setFailed] = useState<unknown>();
  if (failed !== undefined) return <Failure error={failed} onRetry={() => location.reload()} />;
  return (
    <ErrorBoundary onError={setFailed}>
      <Router onRouteChange={() => document.querySelector('main')?.scrollTo(0, 0)}>
        <Route path="/console" component={Home} />
        <Route path="/console/overview" component={Overview} />
        <Route path="/console/approvals/:id?" component={Approvals} />
        <Route path="/console/calls" component={Calls} />
        <Route path="/console/calls/:id" component={Call} />
        <Route path="/console/access" component={Access} />
        <Route path="/console/fleet" component={Fleet} />
        <Route path="/console/grants" component={Grants} />
        <Route path="/console/audit" component={Audit} />
        <Route path="/console/tokens" component={Tokens} />
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  );
}
