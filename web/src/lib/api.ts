// Asks the server. An answer is there, still coming, or could not be had: then with the reason.

export interface Session {
  name: string;
  role: 'reader' | 'proposer' | 'approver';
  csrf: string | null;
}

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
  ) {
    super(detail);
  }
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as { detail?: string; title?: string };
    return new Problem(response.status, body.detail ?? body.title ?? response.statusText);
  } catch {
    return new Problem(response.status, `the server answered ${response.status}`);
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init });
  } catch {
    throw new Problem(0, 'the server cannot be reached; is amdahl serve running?');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

export async function get<T>(path: string): Promise<T> {
  return (await (await send(path, {})).json()) as T;
}

export async function post<T>(path: string, body: unknown, csrf: string | null): Promise<T> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (csrf) headers['X-CSRF-Token'] = csrf;
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await send(path, init)).json()) as T;
}

export async function logIn(token: string): Promise<Session> {
  return post<Session>('/api/v1/session', { token }, null);
}

export async function logOut(csrf: string | null): Promise<void> {
  await send('/api/v1/session', {
    method: 'DELETE',
    headers: csrf ? { 'X-CSRF-Token': csrf } : {},
  });
}
