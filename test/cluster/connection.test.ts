// One connection to a Redis that is suspended, so that commands get no reply.

import { expect } from 'chai';
import { openConnection } from '../../src/cluster/connection.ts';
import { until } from '../until.ts';
import { type RedisServer, useRedisServer } from './redis-server.ts';

describe('a connection to Redis', function () {
  this.timeout(60_000);
  let redisServer: RedisServer;
  useRedisServer((started) => {
    redisServer = started;
  });

  it('is replaced once if several commands are late together, each of which fails', async () => {
    const connection = openConnection(redisServer.url);
    const { client } = connection;
    const ping = () => connection.run(() => client.ping());
    try {
      await until(() => client.isReady, 'it is open');
      let replacements = 0;
      client.on('end', () => {
        replacements += 1;
      });
      redisServer.child.kill('SIGSTOP');
      const results = await Promise.allSettled([ping(), ping(), ping()]);
      expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
      redisServer.child.kill('SIGCONT');
      await until(() => client.isReady, 'it is open again');
      expect(await ping()).to.equal('PONG');
      expect(replacements).to.equal(1);
    } finally {
      connection.close();
    }
  });
});
