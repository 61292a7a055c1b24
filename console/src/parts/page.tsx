import { type ReactNode, useEffect, useRef } from 'react';

/** A page of the console: its heading is told first to whoever comes to it. */
export function Page({ title, intro, children }: { title: string; intro?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const before = document.title;
    document.title = `${title} · Tidemark`;
    heading.current?.focus();
    return () => {
      document.title = before;
    };
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
