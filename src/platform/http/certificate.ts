import { createPrivateKey, type KeyObject } from 'node:crypto';
import { type Server as SecureServer, createServer, type Server, type ServerOptions } from 'node:https';
import { createSecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls';
import {
  assertAuthorities,
  certificateIn,
  ConfigError,
  contentOf,
  openSslReason,
  type SettingFile,
  shownFile,
  wrongFile,
} from '../config/pure.js';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum size of a file (bytes). A bundle of all public authorities has 200 KB. */
const LARGEST_FILE = 1024 * 1024;

/**
 * Interval at which the files are read again (milliseconds). Watching a file would miss that a symbolic link above it
 * leads elsewhere, which is how Kubernetes replaces certificates.
 */
const LOOK_MS = 2000;

const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** The files of a service that serves TLS itself. */
interface CertificateFiles {
  cert: SettingFile;
  key: SettingFile;
  clientCa: SettingFile | undefined;
}

/** A certificate that can be served. */
interface LoadedCertificate {
  /** For a TLS server: the certificate, its key and, if configured, the authorities of client certificates. */
  options: SecureContextOptions;
  begins: Date;
  ends: Date;
}

/** The files of the settings; undefined without TLS. */
export function certificateFiles(settings: {
  tlsCert: string | undefined;
  tlsKey: string | undefined;
  tlsClientCa: string | undefined;
}): CertificateFiles | undefined {
  const { tlsCert, tlsKey, tlsClientCa } = settings;
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const key = 'the path of a PEM file with the private key of the certificate, without a passphrase';
  const authorities = 'the path of a PEM file with the certificates of those who sign client certificates';
  return {
    cert: {
      ...{ name: 'TLS_CERT', path: tlsCert },
      right: 'the path of a PEM file with the certificate of this service, and its chain after it',
    },
    key: { name: 'TLS_KEY', path: tlsKey, right: key },
    clientCa:
      tlsClientCa === undefined
        ? undefined
        : { name: 'TLS_CLIENT_CA', path: tlsClientCa, right: authorities },
  };
}

/** Reads and checks the files. Throws a ConfigError that names the setting, the path and the fault. */
export function loadCertificate(files: CertificateFiles): LoadedCertificate {
  return checked(files, read(files));
}

interface Contents {
  cert: Buffer;
  key: Buffer;
  ca: Buffer | undefined;
}

function read({ cert, key, clientCa }: CertificateFiles): Contents {
  return {
    cert: contentOf(cert, LARGEST_FILE),
    key: contentOf(key, LARGEST_FILE),
    ca: clientCa && contentOf(clientCa, LARGEST_FILE),
  };
}

function checked(files: CertificateFiles, { cert, key, ca }: Contents): LoadedCertificate {
  const certificate = certificateIn(files.cert, cert);
  if (!certificate.checkPrivateKey(keyIn(files.key, key)))
    throw wrongFile(files.key, `does not belong to the first certificate in ${shownFile(files.cert)}`);
  if (files.clientCa !== undefined && ca !== undefined) assertAuthorities(files.clientCa, ca);
  const options: SecureContextOptions = { cert, key, ...(ca && { ca }), minVersion: 'TLSv1.2' };
  try {
    createSecureContext(options);
  } catch (error) {
    throw wrongFile(files.cert, `is refused by OpenSSL: ${openSslReason(error)}`);
  }
  return { options, begins: new Date(certificate.validFrom), ends: new Date(certificate.validTo) };
}

function keyIn(file: SettingFile, content: Buffer): KeyObject {
  if (ENCRYPTED.test(content.toString())) throw wrongFile(file, 'is encrypted with a passphrase');
  try {
    return createPrivateKey(content);
  } catch {
    throw wrongFile(file, 'holds no private key in PEM form');
  }
}

/** Receives the changes of the certificate of a running service. */
export interface CertificateObserver {
  info: (line: string) => void;
  warn: (line: string) => void;
  /** A certificate is served from now on, and ends at this time. */
  served: (ends: Date) => void;
}

type Renewable = Pick<SecureServer, 'setSecureContext'>;

/**
 * The certificate that a server serves. The files are read again every two seconds. A new certificate is used for new
 * connections; one that cannot be used is reported once, and the previous one stays.
 */
export class ServedCertificate {
  private current: LoadedCertificate;
  /** The content that was read last. */
  private seen: string;
  private trouble: string | undefined;

  /** Reads the files. Throws a ConfigError, see {@link loadCertificate}. */
  constructor(private readonly files: CertificateFiles) {
    const contents = read(files);
    this.seen = contentsText(contents);
    this.current = checked(files, contents);
  }

  /** For the server. Clients need a certificate if authorities are configured. */
  get options(): TlsOptions {
    return {
      ...this.current.options,
      requestCert: this.files.clientCa !== undefined,
      rejectUnauthorized: true,
    };
  }

  /** Reports the certificate, and follows the files until the server closes. */
  follow(server: Renewable & Pick<SecureServer, 'once'>, observer: CertificateObserver): void {
    this.report('The certificate', observer);
    const timer = setInterval(() => this.reloadIfChanged(server, observer), LOOK_MS).unref();
    server.once('close', () => clearInterval(timer));
  }

  private reloadIfChanged(server: Renewable, observer: CertificateObserver): void {
    try {
      const contents = read(this.files);
      const seen = contentsText(contents);
      if (seen === this.seen) return;
      this.seen = seen;
      const next = checked(this.files, contents);
      server.setSecureContext(next.options);
      this.current = next;
      this.trouble = undefined;
      this.report('The new certificate', observer);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.complain(error.message, observer);
    }
  }

  private complain(trouble: string, observer: CertificateObserver): void {
    if (trouble === this.trouble) return;
    this.trouble = trouble;
    observer.warn(`${trouble} The previous certificate stays in use; it ends on ${day(this.current.ends)}.`);
  }

  private report(which: string, { info, warn, served }: CertificateObserver): void {
    const { begins, ends } = this.current;
    const now = new Date();
    served(ends);
    if (ends < now)
      warn(
        `${which} in TLS_CERT ended on ${day(ends)}, and clients refuse it. Replace the file; no restart is needed.`,
      );
    else if (begins > now)
      warn(`${which} in TLS_CERT begins on ${day(begins)}, and clients refuse it until then.`);
    else info(`${which} in TLS_CERT is in use; it ends on ${day(ends)}.`);
  }
}

function contentsText({ cert, key, ca }: Contents): string {
  return [cert, key, ca].map((part) => part?.toString('latin1')).join('\0');
}

/** Such as `2027-01-31`, in UTC. */
function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

const TCP = Symbol('TCP connection');

type Secured = Socket & { [TCP]?: Socket };

/** The TCP connection below a socket of a request: the socket itself, or the one that its TLS connection uses. */
export function tcpSocketOf(socket: Socket): Socket {
  return (socket as Secured)[TCP] ?? socket;
}

/**
 * A server for HTTP/1.1 over TLS, whose connections can be bounded and closed like those of a server without TLS. Node
 * does not count a connection as one of HTTP before its handshake has ended, so such a connection would survive
 * `closeIdleConnections`, and a stopping server would wait for it until the time limit of the handshake.
 */
export function createSecureServer<
  Asked extends typeof IncomingMessage,
  Answer extends typeof ServerResponse<InstanceType<Asked>>,
>(options: ServerOptions<Asked, Answer>, listener: RequestListener<Asked, Answer>): Server<Asked, Answer> {
  const server = createServer(options, listener);
  const handshakes = new Map<string, Socket>();
  const endHandshakes = () => handshakes.forEach((socket) => socket.destroy());
  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    handshakes.set(ends, socket);
    socket.once('close', () => handshakes.get(ends) === socket && handshakes.delete(ends));
  });
  server.prependListener('secureConnection', (socket: Secured) => {
    const ends = endsOf(socket);
    const tcp = handshakes.get(ends);
    if (tcp !== undefined) socket[TCP] = tcp;
    handshakes.delete(ends);
  });
  // After a failed handshake, the client cannot read any answer, but Node would pass the socket to `clientError`,
  // whose handler writes a problem.
  server.prependListener('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  const closeIdle = server.closeIdleConnections.bind(server);
  const closeAll = server.closeAllConnections.bind(server);
  server.closeIdleConnections = () => (closeIdle(), endHandshakes());
  server.closeAllConnections = () => (closeAll(), endHandshakes());
  return server;
}

/** Identifies an open connection of a server. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
