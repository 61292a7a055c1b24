export interface Image {
  config: {
    User: string;
    Cmd: string[];
    Env: string[];
    WorkingDir: string;
  };
  /** `CMD`, and a command. */
  health: string[];
  /** The folder of its files. */
  root: string;
  leave(): void;
}
export function builtImage(): Promise<Image>;
