import { type ReactNode, useEffect, useRef } from 'react';

/** A page of the console: its heading is told first to whoever comes to it. */
export function Page({ title, intro, children }: { title: string; intro?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Tidemark`;
    heading.current?.focus();
  }, [title]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {intro !== undefined && <p className="intro">{intro}</p>}
      {children}
    </>
  );
}
