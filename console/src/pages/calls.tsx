import type { VNode } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/states.tsx';

export function Calls(): VNode {
  return (
    <>
      <PageHead title="Calls" />
      <Empty title="Nothing here yet." />
    </>
  );
}
