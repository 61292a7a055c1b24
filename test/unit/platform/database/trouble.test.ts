import mongoose from 'mongoose';
import { hostsIn, refusalAtStart, troubleOf } from '../../../../src/platform/database/server-check.js';

const { mongo } = mongoose;
const withCode = (code: string) => Object.assign(new Error(`connect ${code} db1`), { code });
/** Of a question for SRV records, which the DNS server is asked. */
const asked = (code: string) => Object.assign(withCode(code), { syscall: 'querySrv' });
/** Of a certificate that Node does not accept. */
const refusedCertificate = (code: string) => Object.assign(new Error('self-signed certificate'), { code });
const within = (cause: Error) => new mongo.MongoNetworkError(cause.message, { cause });

describe('why a database does not answer', () => {
  it.each([
    ['the connection is refused', within(withCode('ECONNREFUSED'))],
    ['that name is not known', within(withCode('ENOTFOUND'))],
    ['that name cannot be looked up', withCode('EAI_AGAIN')],
    [
      'DNS has no SRV record for it; if the host has none, write mongodb:// instead of mongodb+srv://',
      asked('ENOTFOUND'),
    ],
    [
      'DNS has no SRV record for it; if the host has none, write mongodb:// instead of mongodb+srv://',
      asked('ENODATA'),
    ],
    ['that name cannot be looked up', asked('ECONNREFUSED')],
    ['that name cannot be looked up', asked('ETIMEOUT')],
    ['that name cannot be looked up', asked('ESERVFAIL')],
    [
      'no response was received',
      new mongo.MongoNetworkTimeoutError("Socket 'secureConnect' timed out after 5001ms"),
    ],
    ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'].map(
      (code): [string, Error] => [
        'its certificate is not signed by an authority that this machine trusts: name the certificate of its authority in ' +
          'MONGODB_URI, such as tlsCAFile=/etc/tidemark/ca.pem',
        within(refusedCertificate(code)),
      ],
    ),
    ['certificate has expired', within(new Error('certificate has expired'))],
    [
      'it closes the connection without an answer: if it requires TLS, add tls=true to MONGODB_URI',
      new mongo.MongoNetworkError('connection <monitor> to 10.0.0.1:27017 closed'),
    ],
  ])('%s', (words, error) => {
    expect(troubleOf(error)).toBe(words);
  });
});

describe('where a connection string leads', () => {
  it.each([
    ['mongodb://ann:se%40cret@db1,db2:27018/shop?replicaSet=rs0&authSource=admin', 'db1:27017, db2:27018'],
    ['mongodb://[::1]:27017/shop', '[::1]:27017'],
    ['mongodb+srv://ann:secret@cluster.example.com/shop?retryWrites=true', 'cluster.example.com'],
  ])('%s', (uri, hosts) => {
    expect(hostsIn(uri)).toBe(hosts);
  });
});

describe('a database that refuses whom the connection string names ends the start', () => {
  const uri = 'mongodb://ann:secret@db1/shop?authSource=hidden';
  const at = { uri, database: 'shop' };
  const server = (code: number) => new mongo.MongoServerError({ code, message: 'ann secret hidden' });

  it.each([
    [18, /^The database at db1:27017 refuses the user name or the password in MONGODB_URI\. [^\n]+\.$/],
    [8000, /^The database at db1:27017 refuses the user name or the password in MONGODB_URI\. [^\n]+\.$/],
    [
      13,
      /^The user in MONGODB_URI, if any, lacks rights on the database at db1:27017\. [^\n]+ shop\. [^\n]+\.$/,
    ],
  ])('code %d', (code, sentence) => {
    const refusal = refusalAtStart(server(code), at) as Error;
    expect(refusal.name).toBe('FatalError');
    expect(refusal.message).toMatch(sentence);
    expect(refusal.message).not.toMatch(/ann|secret|hidden/);
  });

  it.each([
    [
      'mongodb://ann:secret@db1/shop',
      'add the database in which the user was created, such as authSource=admin: the default is shop.',
    ],
    [
      'mongodb://ann:secret@db1/shop?replicaSet=rs0&AUTHSOURCE=hidden',
      'set authSource to the database in which the user was created, such as authSource=admin.',
    ],
  ])('where the user is looked up is told: %s', (wrong, words) => {
    const refusal = refusalAtStart(server(18), { uri: wrong, database: 'shop' }) as Error;
    expect(refusal.message).toContain(words);
    expect(refusal.message).not.toMatch(/ann|secret|hidden/);
  });

  it('a client certificate is named as such', () => {
    const uri = 'mongodb://db1/shop?tls=true&tlsCertificateKeyFile=/hidden.pem&authMechanism=MONGODB-X509';
    const refusal = refusalAtStart(server(18), { uri, database: 'shop' }) as Error;
    expect(refusal.message).toMatch(
      /^The database at db1:27017 refuses the client certificate: .+ \$external\.$/,
    );
    expect(refusal.message).not.toMatch(/password|hidden/);
  });

  it('any other error goes on as it is', () => {
    const others = [server(91), withCode('ECONNREFUSED')];
    expect(others.map((error) => refusalAtStart(error, at))).toEqual(others);
  });
});
