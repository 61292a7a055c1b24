import { isSessionOver, ServiceError } from '../api/client.js';

/** Why something failed, in the service's own words. */
export function Problem({ error }: { error: unknown }) {
  if (error === undefined || isSessionOver(error)) return null;
  const { title, detail, errors } = told(error);
  const unsaid = errors.filter(({ detail: one }) => !detail.includes(one));
  return (
    <div className="problem" role="alert">
      <strong>{title}.</strong> {detail}
      {unsaid.length > 0 && (
        <ul>
          {unsaid.map(({ pointer, detail: one }) => (
            <li key={`${pointer}${one}`}>
              <code>{pointer}</code> {one}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function told(error: unknown): Pick<ServiceError, 'title' | 'detail' | 'errors'> {
  if (error instanceof ServiceError) return error;
  return { title: 'Something went wrong in this page', detail: String(error), errors: [] };
}
