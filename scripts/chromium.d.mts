export function chromiumPath(): string;
export function installChromium(): Promise<boolean>;
