/** The least that a route of this service can cost: Nest on Express with Passport, four global guards and a constant. */
import 'reflect-metadata';
import { type CanActivate, Controller, Get, Injectable, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { BasicStrategy } from 'passport-http';

const { API_USERNAME, API_PASSWORD, PORT } = process.env;
const NEWEST = { offset: '2026-11-20T10:00:00.000Z' };

@Injectable()
class OneLogin extends PassportStrategy(BasicStrategy, 'basic') {
  validate(username: string, password: string): { username: string } | false {
    return username === API_USERNAME && password === API_PASSWORD && { username };
  }
}

@Injectable()
class BasicGuard extends AuthGuard('basic') {}

@Injectable()
class OpenGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller(':org/:app/api/v1/product')
class MaxController {
  @Get('max')
  max(): typeof NEWEST {
    return NEWEST;
  }
}

const guards = [BasicGuard, OpenGuard, OpenGuard, OpenGuard];

@Module({
  controllers: [MaxController],
  providers: [OneLogin, ...guards.map((useClass) => ({ provide: APP_GUARD, useClass }))],
})
class FloorModule {}

const app = await NestFactory.create<NestExpressApplication>(FloorModule, {
  bodyParser: false,
  logger: false,
});
app.set('etag', false);
app.set('query parser', 'simple');
app.enableShutdownHooks();
await app.listen(Number(PORT), '127.0.0.1');
