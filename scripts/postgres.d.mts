export function postgresPrograms(): string | undefined;
export function installPostgres(): void;
