export { ConsoleModule } from './console.module.js';
export { serveConsole } from './pages.js';
export { SessionGuard } from './session.guard.js';
