/**
 * The page at /logout, and at /login if the gateway serves no console. It is not part of the console's build, so a gateway without a
 * console has it, too.
 */
export const LOGIN_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in - Sallyport</title>
<link rel="stylesheet" href="/login.css">
<script src="/login.js" defer></script>
</head>
<body>
<main>
<h1>Sallyport</h1>
<p id="state" role="status">Log in with a token, or open a login link.</p>
<form id="form" method="post" action="/v1/login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required>
<button type="submit">Log in</button>
</form>
<p>A new link: <code>sallyport gateway login-link</code></p>
<noscript><p>The console needs JavaScript.</p></noscript>
</main>
</body>
</html>
`;

/**
 * The script of the login page. It writes text only: nothing it shows is ever read as markup. It removes the code from the address bar
 * before it uses the code.
 */
export const LOGIN_SCRIPT = `'use strict';
const state = document.getElementById('state');
const form = document.getElementById('form');
const input = document.getElementById('token');
const send = (path, body) =>
  fetch(path, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', 'sallyport-console': '1' },
    body: JSON.stringify(body),
  });
async function logIn(body) {
  state.textContent = 'Logging in ...';
  try {
    const answer = await send('/v1/login', body);
    if (answer.status === 204) return location.replace('/console/');
    const problem = await answer.json();
    state.textContent = problem.detail + (problem.fix === undefined ? '' : ' ' + problem.fix);
  } catch {
    state.textContent = 'The gateway does not answer.';
  }
  state.setAttribute('role', 'alert');
}
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const token = input.value.trim();
  input.value = '';
  logIn({ token });
});
async function logOut() {
  await send('/v1/logout', {}).catch(() => undefined);
  state.textContent = 'You are logged out.';
}
const code = location.hash.slice(1);
const isLogout = location.pathname === '/logout';
history.replaceState(null, '', '/login');
if (isLogout) logOut();
else if (code !== '') logIn({ code });
`;

export const LOGIN_STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; place-items: center; min-height: 100vh; background: Canvas; color: CanvasText; }
main { width: min(26rem, 90vw); }
form { display: grid; gap: 0.5rem; }
input, button { font: inherit; padding: 0.6rem; border: 1px solid GrayText; border-radius: 0.4rem; }
input:focus-visible, button:focus-visible { outline: 3px solid Highlight; outline-offset: 1px; }
`;
