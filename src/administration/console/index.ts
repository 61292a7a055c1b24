export { ConsoleModule } from './console.module.js';
export { serveConsole } from './pages.js';
export { isUnasked, SessionGuard } from './sessions.js';
