import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

// Styles are in one file: what a component would add at run time, the server's policy refuses.
export default { preprocess: vitePreprocess() };
