import { Injectable, UnauthorizedException } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { BasicStrategy } from 'passport-http';

@Injectable()
export class HttpBasicStrategy extends PassportStrategy(BasicStrategy, 'basic') {
  validate(username: string, password: string): { username: string } {
    if (username !== process.env['API_USERNAME'] || password !== process.env['API_PASSWORD'])
      throw new UnauthorizedException();
    return { username };
  }
}
