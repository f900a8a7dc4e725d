import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/frame.css';

applyTheme();
const root = document.querySelector('#app');
if (root !== null) render(<App />, root);
