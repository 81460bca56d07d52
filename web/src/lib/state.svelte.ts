// What all pages share: who is logged in, where we are, what is new, light or dark.
import { get, logIn, Problem, type Session } from './api';

export type Theme = 'auto' | 'light' | 'dark';

class App {
  session = $state<Session | null>(null);
  known = $state(false); // Whether the session has been asked for.
  path = $state(location.pathname);
  query = $state(location.search);
  // Grows with every batch of new events: what depends on it asks again.
  news = $state(0);
  live = $state<'off' | 'on' | 'lost'>('off');
  lastEvent = $state('');
  theme = $state<Theme>((localStorage.getItem('theme') as Theme | null) ?? 'auto');
  dark = $state(matchMedia('(prefers-color-scheme: dark)').matches); // What the system asks for.

  private source: EventSource | null = null;
  private pending = 0;

  async begin(): Promise<void> {
    addEventListener('popstate', () => this.arrive());
    document.addEventListener('click', (event) => this.follow(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => (this.dark = event.matches));
    this.showTheme();
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    try {
      if (token) {
        history.replaceState(null, '', location.pathname + location.search);
        this.session = await logIn(token);
      } else {
        this.session = await get<Session>('/api/v1/session');
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    this.known = true;
    if (this.session) this.listen();
  }

  entered(session: Session): void {
    this.session = session;
    this.listen();
  }

  left(): void {
    this.session = null;
    this.source?.close();
    this.source = null;
    this.live = 'off';
  }

  // `stay`: the same page with another filter; it does not jump to the top.
  go(to: string, stay = false): void {
    history.pushState(null, '', to);
    this.arrive();
    if (stay) return;
    scrollTo(0, 0);
    // A screen reader goes to the new page's heading.
    queueMicrotask(() => document.getElementById('main')?.focus());
  }

  // What draws on a canvas reads this, and is drawn again when the colours change.
  get colours(): string {
    return `${this.theme} ${this.dark}`;
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    localStorage.setItem('theme', theme);
    this.showTheme();
  }

  private showTheme(): void {
    if (this.theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
  }

  private arrive(): void {
    this.path = location.pathname;
    this.query = location.search;
  }

  // Links of ours change the address without loading the page anew.
  private follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey) return;
    const link = (event.target as Element).closest('a[href^="/"]');
    if (!link || link.hasAttribute('download') || link.hasAttribute('data-plain')) return;
    event.preventDefault();
    this.go(link.getAttribute('href') ?? '/');
  }

  private listen(): void {
    this.source?.close();
    const source = new EventSource('/api/v1/events');
    this.source = source;
    source.onopen = () => (this.live = 'on');
    source.onerror = () => (this.live = 'lost');
    source.onmessage = (message) => {
      this.live = 'on';
      this.lastEvent = (JSON.parse(message.data as string) as { kind: string }).kind;
      // A burst of events is one reason to look again.
      if (this.pending) return;
      this.pending = setTimeout(() => {
        this.pending = 0;
        this.news += 1;
      }, 300) as unknown as number;
    };
  }
}

export const app = new App();
