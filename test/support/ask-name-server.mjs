/**
 * Preloaded by a process: names below `.test` are looked up at the server in `TEST_NAME_SERVER`, hosts too, which Node asks the
 * operating system for.
 */
import dns from 'node:dns';
import { env } from 'node:process';

const servers = [env.TEST_NAME_SERVER];
const asked = new dns.Resolver();
asked.setServers(servers);
dns.setServers(servers);

const { lookup } = dns;
dns.lookup = (name, options, callback) => {
  if (!name.endsWith('.test')) return lookup(name, options, callback);
  return asked.resolve4(name, (error, addresses = []) => {
    if (error) callback(error);
    else if (options.all)
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    else callback(null, addresses[0], 4);
  });
};
