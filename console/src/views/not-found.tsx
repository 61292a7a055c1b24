import { Link } from '../parts/link.js';
import { Page } from '../parts/page.js';

export function NotFound() {
  return (
    <Page title="Not found">
      <p>
        The console has no such page. <Link to="/">Go to the overview</Link>.
      </p>
    </Page>
  );
}
